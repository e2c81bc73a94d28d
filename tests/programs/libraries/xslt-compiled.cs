// XslCompiledTransform: style sheets are compiled to CIL.
// mcs: -r:System.Xml.dll
using System;
using System.IO;
using System.Xml;
using System.Xml.Xsl;

public class Helper { public string Shout(string text) { return text.ToUpperInvariant() + "!"; } }

static class Program
{
    const string Sheet = @"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:h='urn:helper' exclude-result-prefixes='h'>
  <xsl:output method='xml' indent='yes' omit-xml-declaration='yes'/>
  <xsl:param name='limit' select='1'/>
  <xsl:key name='by-kind' match='item' use='@kind'/>
  <xsl:template match='/list'>
    <result count='{count(item)}' total='{sum(item/@price)}'>
      <xsl:for-each select='item[@price &gt; $limit]'>
        <xsl:sort select='@price' data-type='number' order='descending'/>
        <entry n='{position()}'><xsl:apply-templates select='.'/></entry>
      </xsl:for-each>
      <fruit><xsl:value-of select=""count(key('by-kind', 'fruit'))""/></fruit>
      <xsl:call-template name='repeat'><xsl:with-param name='times' select='3'/></xsl:call-template>
    </result>
  </xsl:template>
  <xsl:template match='item'>
    <xsl:choose>
      <xsl:when test='@kind = ""fruit""'><xsl:value-of select='h:Shout(@name)'/></xsl:when>
      <xsl:otherwise><xsl:value-of select='concat(@name, "": "", format-number(@price, ""0.00""))'/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>
  <xsl:template name='repeat'>
    <xsl:param name='times'/>
    <xsl:if test='$times &gt; 0'>*<xsl:call-template name='repeat'><xsl:with-param name='times' select='$times - 1'/></xsl:call-template></xsl:if>
  </xsl:template>
</xsl:stylesheet>";

    static void Main()
    {
        XslCompiledTransform transform = new XslCompiledTransform();
        transform.Load(XmlReader.Create(new StringReader(Sheet)));
        XsltArgumentList arguments = new XsltArgumentList();
        arguments.AddParam("limit", "", 2.0);
        arguments.AddExtensionObject("urn:helper", new Helper());
        StringWriter output = new StringWriter();
        string input = "<list><item name='apple' kind='fruit' price='3'/><item name='bread' kind='bakery' price='4.5'/><item name='pear' kind='fruit' price='1.5'/></list>";
        using (XmlWriter writer = XmlWriter.Create(output, transform.OutputSettings)) transform.Transform(XmlReader.Create(new StringReader(input)), arguments, writer);
        Console.WriteLine(output.ToString().Replace("\r", ""));
    }
}
