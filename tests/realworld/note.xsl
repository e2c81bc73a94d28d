<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text"/>
  <xsl:template match="/note">Note of <xsl:value-of select="@id"/>: <xsl:apply-templates select="to"><xsl:sort select="."/></xsl:apply-templates><xsl:value-of select="number * 2"/></xsl:template>
  <xsl:template match="to">[<xsl:value-of select="translate(., 'abc', 'ABC')"/>] </xsl:template>
</xsl:stylesheet>
