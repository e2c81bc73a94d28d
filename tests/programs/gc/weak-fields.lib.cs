namespace System {
    [AttributeUsage (AttributeTargets.Field)]
    public sealed class WeakAttribute : Attribute { }
}
