public class FromElsewhere { }
