// DateTime, DateTimeOffset, DateOnly, TimeOnly, TimeSpan and time zones.
using System;
using System.Globalization;

var c = CultureInfo.InvariantCulture;
var d = new DateTime(2024, 2, 29, 23, 59, 58, 999, DateTimeKind.Utc).AddMicroseconds(7);
Console.WriteLine(d.ToString("O") + " " + d.AddYears(1).ToString("d", c) + " " + d.DayOfWeek + " " + d.DayOfYear + " " + DateTime.IsLeapYear(1900));
Console.WriteLine((d - new DateTime(1970, 1, 1)).TotalDays.ToString("F3", c) + " " + d.Ticks + " " + d.Microsecond);
Console.WriteLine(DateTime.Parse("2024-05-06T07:08:09+02:00", c, DateTimeStyles.AdjustToUniversal).ToString("u"));
Console.WriteLine(DateTime.TryParseExact("31/12/1999", "dd/MM/yyyy", c, DateTimeStyles.None, out var e) + " " + e.ToString("yyyy-MM-dd") + " " + DateTime.TryParse("nonsense", out _));
var offset = new DateTimeOffset(2024, 1, 1, 12, 0, 0, TimeSpan.FromHours(-5));
Console.WriteLine(offset.ToString("o") + " " + offset.UtcDateTime.ToString("s") + " " + offset.ToUnixTimeSeconds() + " " + DateTimeOffset.FromUnixTimeMilliseconds(1).ToString("O"));
Console.WriteLine(new DateOnly(2024, 2, 28).AddDays(2).ToString("O") + " " + TimeOnly.Parse("23:30", c).AddHours(1).ToString("HH:mm:ss") + " " + new TimeOnly(1, 0).IsBetween(new(23, 0), new(2, 0)));
Console.WriteLine(new TimeSpan(1, 2, 3, 4, 5) + " " + TimeSpan.FromMinutes(90).ToString("c") + " " + TimeSpan.Parse("1.02:03:04.5", c).TotalSeconds.ToString(c) + " " + TimeSpan.MinValue);
Console.WriteLine(TimeZoneInfo.Local.Id + " " + TimeZoneInfo.Utc.BaseUtcOffset + " " + DateTime.Now.Kind + " " + (Math.Abs((DateTime.UtcNow - DateTime.Now).TotalHours) < 0.1));
var rule = TimeZoneInfo.AdjustmentRule.CreateAdjustmentRule(DateTime.MinValue.Date, DateTime.MaxValue.Date, TimeSpan.FromHours(1),
    TimeZoneInfo.TransitionTime.CreateFloatingDateRule(new DateTime(1, 1, 1, 2, 0, 0), 3, 5, DayOfWeek.Sunday),
    TimeZoneInfo.TransitionTime.CreateFloatingDateRule(new DateTime(1, 1, 1, 3, 0, 0), 10, 5, DayOfWeek.Sunday));
var zone = TimeZoneInfo.CreateCustomTimeZone("Made", TimeSpan.FromHours(1), "Made", "Standard", "Summer", [rule]);
Console.WriteLine(TimeZoneInfo.ConvertTimeFromUtc(new DateTime(2024, 7, 1, 12, 0, 0), zone).ToString("s") + " " + TimeZoneInfo.ConvertTimeFromUtc(new DateTime(2024, 1, 1, 12, 0, 0), zone).ToString("s"));
Console.WriteLine(zone.IsDaylightSavingTime(new DateTime(2024, 3, 31, 4, 0, 0)) + " " + zone.IsInvalidTime(new DateTime(2024, 3, 31, 2, 30, 0)) + " " + zone.IsAmbiguousTime(new DateTime(2024, 10, 27, 2, 30, 0)));
Console.WriteLine(new GregorianCalendar().GetWeekOfYear(d, CalendarWeekRule.FirstFourDayWeek, DayOfWeek.Monday) + " " + ISOWeek.GetWeekOfYear(new DateTime(2021, 1, 3)));
try { _ = new DateTime(2023, 2, 29); } catch (ArgumentOutOfRangeException x) { Console.WriteLine(x.GetType().Name); }
