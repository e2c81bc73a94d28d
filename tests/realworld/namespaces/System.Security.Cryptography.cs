// Digests, ciphers, keys, certificates, signatures.
// references: System.Security System.Xml System.Numerics
using System;
using System.IO;
using System.Linq;
using System.Numerics;
using System.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Security.Cryptography.Xml;
using System.Security.Principal;
using System.Text;
using System.Xml;
using static Sweep;

static class Program {
    static readonly byte[] Data = Encoding.UTF8.GetBytes ("The quick brown fox jumps over the lazy dog");
    static readonly byte[] Key = Enumerable.Range (1, 32).Select (i => (byte) i).ToArray ();

    static void Symmetric (string name, Func<SymmetricAlgorithm> make)
    {
        Check (name, () => {
            foreach (CipherMode mode in new[] { CipherMode.CBC, CipherMode.ECB, CipherMode.CFB })
                foreach (PaddingMode padding in new[] { PaddingMode.PKCS7, PaddingMode.Zeros, PaddingMode.ANSIX923 })
                    try {
                        using (var a = make ()) {
                            a.Mode = mode; a.Padding = padding; a.Key = Key.Take (a.KeySize / 8).ToArray (); a.IV = Key.Take (a.BlockSize / 8).ToArray (); if (mode == CipherMode.CFB) a.FeedbackSize = 8;
                            byte[] c = a.CreateEncryptor ().TransformFinalBlock (Data, 0, Data.Length); Print (mode, padding, c);
                            var ms = new MemoryStream (); using (var s = new CryptoStream (ms, a.CreateDecryptor (), CryptoStreamMode.Write)) s.Write (c, 0, c.Length); Print (Encoding.UTF8.GetString (ms.ToArray ()).TrimEnd ('\0'));
                        }
                    } catch (CryptographicException e) { Print (mode, padding, e.Message); }
            using (var a = make ()) { Print (a.KeySize, a.BlockSize, a.LegalKeySizes.Select (k => k.MinSize + "-" + k.MaxSize + "/" + k.SkipSize)); a.GenerateKey (); a.GenerateIV (); Print (a.Key.Length, a.IV.Length); a.Key = new byte[3]; }
        });
    }

    static void Main ()
    {
        foreach (var n in new[] { "MD5", "SHA1", "SHA256", "SHA384", "SHA512", "RIPEMD160" })
            Check (n, () => { using (var h = HashAlgorithm.Create (n)) { Print (h.GetType ().Name, h.HashSize, h.ComputeHash (Data), h.ComputeHash (new MemoryStream (new byte[100000]))); h.TransformBlock (Data, 0, 5, Data, 0); h.TransformFinalBlock (Data, 5, Data.Length - 5); Print (h.Hash); } });
        foreach (var n in new[] { "HMACMD5", "HMACSHA1", "HMACSHA256", "HMACSHA384", "HMACSHA512", "HMACRIPEMD160", "MACTripleDES" })
            Check (n, () => { using (var h = KeyedHashAlgorithm.Create (n)) { h.Key = Key.Take (24).ToArray (); Print (h.ComputeHash (Data)); } });
        Symmetric ("AES managed", () => new AesManaged ());
        Symmetric ("AES", () => Aes.Create ());
        Symmetric ("Rijndael 256", () => new RijndaelManaged { BlockSize = 256 });
        Symmetric ("TripleDES", () => TripleDES.Create ());
        Symmetric ("DES", () => DES.Create ());
        Symmetric ("RC2", () => RC2.Create ());
        Check ("Bad padding", () => { using (var a = Aes.Create ()) { a.Key = Key; a.IV = new byte[16]; a.CreateDecryptor ().TransformFinalBlock (new byte[16], 0, 16); } });
        Check ("RSA", () => {
            using (var r = new RSACryptoServiceProvider ()) {
                r.FromXmlString (RsaKey); Print (r.KeySize, r.KeyExchangeAlgorithm, r.PublicOnly);
                var s = r.SignData (Data, "SHA256"); Print (s, r.VerifyData (Data, "SHA256", s)); s[0] ^= 1; Print (r.VerifyData (Data, "SHA256", s));
                Print (r.SignHash (SHA1.Create ().ComputeHash (Data), CryptoConfig.MapNameToOID ("SHA1"))); Print (r.Decrypt (r.Encrypt (Data, false), false).SequenceEqual (Data), r.Decrypt (r.Encrypt (Data, true), true).SequenceEqual (Data)); Print (r.ToXmlString (false)); var p = r.ExportParameters (true); Print (p.Exponent, p.D.Length); Print (r.SignData (Data, HashAlgorithmName.SHA512, RSASignaturePadding.Pkcs1).Length); r.Decrypt (new byte[64], false);
            }
        });
        Check ("RSA key generation", () => { using (var r = new RSACryptoServiceProvider (1024)) Print (r.VerifyData (Data, "SHA1", r.SignData (Data, "SHA1")), r.ExportParameters (false).Modulus.Length); });
        Check ("DSA", () => { using (var d = new DSACryptoServiceProvider (512)) { var s = d.SignData (Data); Print (s.Length, d.VerifyData (Data, s)); s[3] ^= 1; Print (d.VerifyData (Data, s)); } });
        Check ("ECDsa", () => { using (var e = ECDsa.Create ()) Print (e.KeySize); });
        Check ("Derived keys", () => { Print (new Rfc2898DeriveBytes ("password", Encoding.ASCII.GetBytes ("saltsalt"), 1000).GetBytes (40)); Print (new PasswordDeriveBytes ("password", Encoding.ASCII.GetBytes ("salt"), "SHA1", 5).GetBytes (20)); });
        Check ("Random numbers", () => { var b = new byte[1000]; using (var r = RandomNumberGenerator.Create ()) { r.GetBytes (b); Print (b.Distinct ().Count () > 200); r.GetNonZeroBytes (b); Print (b.Contains ((byte) 0)); } });
        Check ("CryptoConfig", () => { foreach (var n in new[] { "MD5", "SHA", "AES", "RSA", "System.Security.Cryptography.SHA256", "3DES", "none" }) { var o = CryptoConfig.CreateFromName (n); Print (n, o == null ? null : o.GetType ().Name, CryptoConfig.MapNameToOID (n)); } Print (new Oid ("SHA1").Value, new Oid ("1.2.840.113549.1.1.1").FriendlyName); });
        Check ("ToBase64Transform", () => { var ms = new MemoryStream (); using (var c = new CryptoStream (ms, new ToBase64Transform (), CryptoStreamMode.Write)) c.Write (Data, 0, Data.Length); Print (Encoding.ASCII.GetString (ms.ToArray ())); using (var c = new CryptoStream (new MemoryStream (ms.ToArray ()), new FromBase64Transform (), CryptoStreamMode.Read)) Print (new StreamReader (c).ReadToEnd ()); });
        Check ("X509Certificate2", () => { var c = new X509Certificate2 (Convert.FromBase64String (Pfx.Data), "sweep", X509KeyStorageFlags.Exportable); Print (c.Subject, c.Issuer, c.SerialNumber.Length, c.NotAfter.Year > 2050, c.HasPrivateKey, c.Version, c.PublicKey.Oid.Value, c.SignatureAlgorithm.FriendlyName, c.Thumbprint, c.GetKeyAlgorithm (), c.PublicKey.Key.KeySize, c.GetNameInfo (X509NameType.SimpleName, false), c.Extensions.Count); foreach (var x in c.Extensions) Print (x.Oid.Value, x.Critical, x.Format (false)); Print (c.PrivateKey.KeySize, c.Export (X509ContentType.Cert).Length, new X509Certificate2 (c.Export (X509ContentType.Pfx, "y"), "y").HasPrivateKey, c.ToString (true).Length > 100, X509Certificate2.GetCertContentType (c.RawData)); });
        Check ("X509Certificate2, wrong password", () => new X509Certificate2 (Convert.FromBase64String (Pfx.Data), "bad"));
        Check ("X509Certificate2, garbage", () => new X509Certificate2 (new byte[] { 1, 2, 3 }));
        Check ("X509Chain", () => { var c = new X509Certificate2 (Convert.FromBase64String (Pfx.Data), "sweep"); var ch = new X509Chain (); ch.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck; Print (ch.Build (c), ch.ChainElements.Count, ch.ChainStatus.Select (s => s.Status)); });
        Check ("X509Store", () => { var s = new X509Store (StoreName.My, StoreLocation.CurrentUser); s.Open (OpenFlags.ReadOnly); Print (s.Name, s.Location); s.Close (); });
        Check ("X500DistinguishedName", () => Print (new X500DistinguishedName ("CN=a, O=\"b, c\", C=DE").Name, new X500DistinguishedName ("CN=x,O=y").Format (true)));
        Check ("Xml signature", () => { var d = new XmlDocument (); d.LoadXml ("<a><b Id='x'>t</b></a>"); using (var r = new RSACryptoServiceProvider ()) { r.FromXmlString (RsaKey); var s = new SignedXml (d) { SigningKey = r }; var f = new Reference ("") { DigestMethod = SignedXml.XmlDsigSHA1Url }; f.AddTransform (new XmlDsigEnvelopedSignatureTransform ()); s.AddReference (f); s.ComputeSignature (); d.DocumentElement.AppendChild (d.ImportNode (s.GetXml (), true)); Print (d.OuterXml); var v = new SignedXml (d); v.LoadXml ((XmlElement) d.GetElementsByTagName ("Signature")[0]); Print (v.CheckSignature (r)); } });
        Check ("ProtectedData", () => { var p = ProtectedData.Protect (Data, Key, DataProtectionScope.CurrentUser); Print (ProtectedData.Unprotect (p, Key, DataProtectionScope.CurrentUser).SequenceEqual (Data)); });
        Check ("SecureString", () => { using (var s = new SecureString ()) { foreach (var c in "pass") s.AppendChar (c); s.MakeReadOnly (); Print (s.Length, s.IsReadOnly (), System.Runtime.InteropServices.Marshal.PtrToStringUni (System.Runtime.InteropServices.Marshal.SecureStringToGlobalAllocUnicode (s))); s.AppendChar ('x'); } });
        Check ("Principal", () => { var p = new GenericPrincipal (new GenericIdentity ("me", "type"), new[] { "r" }); Print (p.IsInRole ("r"), p.Identity.IsAuthenticated, WindowsIdentity.GetCurrent ().Name == Environment.UserName, new SecurityElement ("a", "b<").ToString (), SecurityElement.Escape ("<\">")); });
        Check ("BigInteger RSA", () => Print (BigInteger.ModPow (BigInteger.Parse ("123456789012345678901234567890"), 65537, BigInteger.Parse ("987654321098765432109876543210987654321"))));
    }

    // A key made for these checks.
    const string RsaKey =
        "<RSAKeyValue><Modulus>3RqywnUVq6jrPwsPjoqeC4TwOPOZp3EekZa5q/Rj5zntjfjD3VJ5ti54b0/cUdSggDAEkBKkJKXbLK8k1YMtsDoH" +
        "Zevj6pM+kLqtRwFtT4B2gWpynD9tF2oIwZS9tVphMUhjbbAKT5t9el/yFlz+7lfAmkaiKJOl7DF0wgA4KyE=</Modulus><Exponent>AQAB</" +
        "Exponent><P>7lgjfVR5j7Pwm54lXVOq1C3bNn4EN2KmYl/U6+CBP8yReickO5FvBNeVlFXCYxtsw69qOlkKmCZ0ZJ/QLMAwnQ==</P><Q>7Xu" +
        "gon9/2LmAcAU/xl8fgaZB7XT2gIt8re+b0NlfOAWcjTk56bKnE+BZ139SCZWtuTTCX0Leooj7z+7jnF/zVQ==</Q><DP>W+t8DGrW0vgHlEyih" +
        "mKtIFVrFJH3GFEgcBIbcLjNwAgqFt0fmSWWllx6YJHOfSBnivSM2GHctx8lhmUoCQo59Q==</DP><DQ>AjqBxGSb54W+Hc7+zTbBTe8oeTj6wz" +
        "QL5Hn2JVyU1yq+UFj0ISxLAxW84hfQxkRAUBedp1UyT6YnbskYG7SOzQ==</DQ><InverseQ>HqTbnUCIA4gb45tKUYoFhmE7O9ZNywY3OHCFx" +
        "cGgvqq9xyGwRaQGql3iwNkXn1YXfJqdlNSlXb7NcVVVCouAyQ==</InverseQ><D>tRr2S2O+QWJWdsgnkPkn5YWZgvy94jI8+MG+CgRfhHmlh" +
        "IG8ZV/2A+zih0Kh04FXikhKpHwwaThVY69+e0k8tLPClQfiEwegTdSBQrns2sEGTR6V0oh6y8lmirq1wL1mqSKqUCO6pEbiaiP0Uq80AJEntsp" +
        "f8Kl9FCgdhI1KKDE=</D></RSAKeyValue>";
}

// A key pair made for these checks.
static class Pfx {
    public const string Data =
        "MIIJSQIBAzCCCQ8GCSqGSIb3DQEHAaCCCQAEggj8MIII+DCCA68GCSqGSIb3DQEHBqCCA6AwggOcAgEAMIIDlQYJKoZIhvcNAQcBMBwGCiqGSI" +
        "b3DQEMAQYwDgQIsxTiMmEyfFACAggAgIIDaI+2GGyPCksoiIsiypTfFjW0lCWDkmvUV1DKRgYq3mrLOnK++ccimbyiqKSufCALYeqGOkDzY5UH" +
        "VijhaPGpn6vpV+rfa8LSFv6vXgZE7jFqLFRflLyLOnIru9F+npLTFTcKG3R+MQoC7sOZcniI+DTH977v+8cGzsm91TneBKZ871Zh8mZvFur0nV" +
        "eb54ayVpNl7ooFOFkKPzaAskvqvSOOcZLCBfk52c+w9ttr7NVZ/XutHRjURckQMFwQv+7krAlJl2U9jH/dhDj4iZgN/+v1CTqZX0Wv7rTAxI/K" +
        "QcFovzbrZ9F36RgEwW2+h7EutQJFuzKiBDrnRUJb7EkXz6KUVpJRYtb3IBKiiBFMkqEQYpTsigNVSm9dR2i+frTaR2boZPu/da18pnd5WoeYpG" +
        "eXttFYbTseuCssFkLQwnRYEGmQC+O6W1dly9TXKrKse2GlDmDela0jlYvXIeXewCUofFq7VdYjYFq/xtKSYn3iFxbjP5Fz9OV/+SGNdJU8FWdM" +
        "sDPS0SM/TLu2H93iMCx/+07ITZ8+HY+JgTBQJ3+YXeU7LktFFpVb9M5SZTxMlM72gHJ2OuXLx9hiRTHhljBigv1ye2mQ1Mf6tTYHbGAdZ+Y/8j" +
        "ST0TUMEePhNEUtP5G9AdTLElFf1af+/4kYc31abcwI6Keibe6DlqevtZ4Q5ti06XwsZCqUHjm5c8Nmvu6eAwzYO+F0tBLkSMzK5dzyAkS+iolC" +
        "Jae+a/4gIUjeuIXKtEtMeRozqqoTbRbkXAGLIN5VrxtVvd5NGg3xZO1b9kWgld7zUC0VcyLwjT2X9qHsiIYd8RIFeqLTujWrpoiwj011qq4eO2" +
        "1AHeP4zY8CT16meA0HRa1sJTGPKVy1ZJlQnRydTerSH+WYHi4ar0sdOPPQw0Ocat6VAT49mL8v32NrPB2IduCycW26c4fAmwt7EOXa2tlGLDI5" +
        "4fHkfX4kJI8GsZA7WcRZB/8gzdY4YPODVj/mtbb6hnjDEVA4ZTjcQqf+RMQ0Bf2M+TrJ2svvmJYzocsYOg7yXhWUwxGfDfhnc8/9+ySO5bBGHi" +
        "kpYGCmCGFCFx2uijdc1xktivFRhwhpS6COjzv3hbxbGcTKmxfmZ7WtUGprx6IbPKUDXHmUbSD5yYhf8f8qNimDBk5oK0BINT/kMIIFQQYJKoZI" +
        "hvcNAQcBoIIFMgSCBS4wggUqMIIFJgYLKoZIhvcNAQwKAQKgggTuMIIE6jAcBgoqhkiG9w0BDAEDMA4ECET9pe53J+vjAgIIAASCBMgokRw7Bp" +
        "6Vm3gYgytxOpTdqlLM18x6rj5+sPY5pgeyx4S3rpaTSEslAdkrb9EIx0BQ8Bm06+seg1HIbX0iRigEzKA6oiF/ILujDfxUAiizLdY4Haz/BblA" +
        "vNWYbDBgYn1hhGu49M9IcBxpxGMFG8m9WKr0FZCcT8saJqTqRcumA3aCZAyZf6s/8dm11uNUVyNVU0pCLna1mEncsfQyE6cUP2LI8ZjSVaVAeL" +
        "py/FmsrRuoz9IdxRZXDKyCwvWyFXTdkNHPozUp68AViJEmaEmrpQdV4FoOmnWRkxuivtvsDj1XqqwyNdJ4eoe0Js2SfcI3idUd7e7dw1omO8Nu" +
        "EuVqdL5R5ClJ4sMhfmROW96PfiPf9Utr8uhGwiwZmhIKDxqG6Q0oXFoSUVuHy4DikWfmt/+b1bSshqgqw8Cxklo8rVmV7fS499a4A+k/QP/yls" +
        "Z6Dz6fryBqlry4P7I3je2nsyonWwSrl9lcF6jqp2dxr5koqhQp6UtKNWN9vQwdH2nUYHlFRS1jhksS28tkoY6TK1eZeaPJnlz/Zx1e4SrcJe3x" +
        "k4HAJC2GkbDMJLnJFfAY0KgdKpBU8CH+nfz3KfuLfzwu2ipBPpbVloT6E/HqhXncd77D0bMbIJpVUK2sQqBhzYMmFdZTJpbAuQDszYHxDbYio+" +
        "krebnBg6mvHG7Bqiq2h3Ps4DEF9IT2KKTm0i8jPiQ2VG/nrqNHvCHXilvj/Hn3mLpxS26N+YovI93nCplbEbxThKZWLWMGWHfS800+MdJ1P+7e" +
        "LwrC1fS5k3k+TSgT9ER6yaDbNiBuebDsmd0TbtJfNv5Y8qwDi7Uyq5i+OKJVBb3Bii9lEBtOVXQgxc8OshwyOWIA0leZ2wu9PNjpG7SgPBAX9+" +
        "OlmubxJ38JMv8CJg1cHjlHIFt4IDGMBlIvnK8lGnMwg6uRPiBpDDeTTXAigX6vYzuT2qPKjXK7UvAifH7AWTiGYl8vFbnuWSVBGbQDDkHnZVMC" +
        "en8VwbC8YWMbT0cjo7fb6AABSeL4xdgpiB50yiQLPaC25yrVsiyLxQK+GHr5NyQkI48o4OzbhkfYUBy3VS/vOaqBNFj9YN2j6bVgWkvpMtgtch" +
        "dI4Wk5NV8VxmX3UU9NFsG9V5ky8vL2SyWW4FRHhmMpCMWdOtqeI9sbMCureIodzrUrlxWwApBaDh9o6+X8yw8w8Uzl3wKfN46TYPVcfX42ACPP" +
        "No3YwI8Ep12DfIMRL1IBsY4VPtg6/fF0fODOyjq5wczB03pe0cQal5XwKnFmT7SYNxMRwXU29TnpbErevSCPITA3CRsFMh+6G6xBS1AH4Z17JZ" +
        "LiQxpz1WCc8oMzp/KRWHHrOAM4csRWY4wdVcZ0c0XTIsffXtcI2SC4CgdD4A7RdvdS/d/DkG1HILP2kDrT3fj3sLqgEc7CAiBtVRa5E+xgRjwk" +
        "JIvl8f5wRQP1CGbd+/jQ7eaHpLRDttybqYho0VAzx/Y1hEP+UZ53IwD9ciRv7m/JefEW/ny0jmR0ldmwiJY/DqzU9V6ltBlCuxVLCD2JIiplLB" +
        "lPGX2ATbeaDACnPptilMS0Oos2L+7q2qNoeStv2sF/c9rMlSd14sBO8AJOzBA4dOydxQ8WS/mpaL+5CzuLLmIxJTAjBgkqhkiG9w0BCRUxFgQU" +
        "UE8+CRCVfZsp2o5760hnWW1NMs0wMTAhMAkGBSsOAwIaBQAEFM5luVS5qTpLAKM9EMCMb7oFk3QlBAiuj50g0wZsVgICCAA=";
}
