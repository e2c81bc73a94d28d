// Loads the assemblies that a list names, one after the other, and asks reflection for all there is to know of each. What is
// malformed gives exceptions, which are of no interest. Prints the number of each assembly before it is loaded.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Serialization;

static class Reflect
{
    const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;

    static object sink;

    static void Ask (Func<object> question)
    {
        try {
            sink = question ();
        } catch (Exception e) {
            sink = e.Message;
        }
    }

    static void Each<T> (Func<IEnumerable<T>> items, Action<T> ask)
    {
        try {
            foreach (T item in items ()) {
                try {
                    if (item != null)
                        ask (item);
                } catch (Exception e) {
                    sink = e.Message;
                }
            }
        } catch (Exception e) {
            sink = e.Message;
        }
    }

    static void Attributes (ICustomAttributeProvider provider)
    {
        Ask (() => provider.GetCustomAttributes (true));
        Ask (() => provider.IsDefined (typeof (ObsoleteAttribute), true));
    }

    static void Data (IList<CustomAttributeData> data)
    {
        foreach (CustomAttributeData attribute in data) {
            Ask (() => attribute.ToString ());
            Ask (() => attribute.ConstructorArguments.Count + attribute.NamedArguments.Count);
        }
    }

    static void Parameter (ParameterInfo parameter)
    {
        Ask (() => parameter.ToString ());
        Ask (() => parameter.DefaultValue);
        Ask (() => parameter.RawDefaultValue);
        Ask (() => parameter.Attributes.ToString () + parameter.IsOptional + parameter.Name);
        Ask (() => parameter.GetRequiredCustomModifiers ().Length + parameter.GetOptionalCustomModifiers ().Length);
        Attributes (parameter);
    }

    static void Method (MethodBase method)
    {
        Each (method.GetParameters, Parameter);
        Ask (() => method.GetMethodImplementationFlags ());
        Ask (() => method.CallingConvention);
        Ask (() => {
            MethodBody body = method.GetMethodBody ();
            if (body == null)
                return null;
            Each (() => body.LocalVariables, local => Ask (() => local.ToString ()));
            Each (() => body.ExceptionHandlingClauses, clause => Ask (() => clause.ToString ()));
            return body.GetILAsByteArray ().Length + body.MaxStackSize + body.LocalSignatureMetadataToken;
        });
        if (method.IsGenericMethodDefinition) {
            Each (method.GetGenericArguments, argument => Ask (() => argument.GetGenericParameterConstraints ().Length));
            MethodInfo generic = (MethodInfo) method;
            Ask (() => generic.MakeGenericMethod (Array.ConvertAll (generic.GetGenericArguments (), a => typeof (string))).MethodHandle.GetFunctionPointer ());
        } else {
            Ask (() => method.MethodHandle.GetFunctionPointer ());
        }
        MethodInfo info = method as MethodInfo;
        if (info != null) {
            Ask (() => info.ReturnType.FullName);
            Ask (() => info.GetBaseDefinition ());
            Ask (() => { Parameter (info.ReturnParameter); return null; });
        }
    }

    static void Field (FieldInfo field)
    {
        Ask (() => field.FieldType.FullName);
        Ask (() => field.GetRequiredCustomModifiers ().Length + field.GetOptionalCustomModifiers ().Length);
        if (field.IsLiteral) {
            Ask (field.GetRawConstantValue);
            Ask (() => field.GetValue (null));
        }
    }

    static void Property (PropertyInfo property)
    {
        Ask (() => property.PropertyType.FullName);
        Ask (() => property.GetAccessors (true).Length);
        Ask (property.GetConstantValue);
        Each (property.GetIndexParameters, Parameter);
    }

    static void Member (MemberInfo member)
    {
        Ask (() => member.ToString ());
        Ask (() => member.MetadataToken + member.Name);
        Attributes (member);
        Ask (() => { Data (CustomAttributeData.GetCustomAttributes (member)); return null; });
        if (member is MethodBase)
            Method ((MethodBase) member);
        else if (member is FieldInfo)
            Field ((FieldInfo) member);
        else if (member is PropertyInfo)
            Property ((PropertyInfo) member);
        else if (member is EventInfo)
            Ask (() => ((EventInfo) member).EventHandlerType + "" + ((EventInfo) member).GetAddMethod (true) + ((EventInfo) member).GetRemoveMethod (true));
    }

    static void One (Type type)
    {
        Ask (() => type.AssemblyQualifiedName + type.BaseType + type.DeclaringType + type.Attributes);
        Ask (() => type.StructLayoutAttribute);
        Ask (() => type.IsSerializable + "" + type.IsEnum + type.IsValueType + type.IsCOMObject + type.IsContextful + type.IsMarshalByRef);
        Ask (() => type.IsAssignableFrom (typeof (object)) || typeof (Exception).IsAssignableFrom (type));
        Each (type.GetGenericArguments, argument => Ask (() => argument.GetGenericParameterConstraints ().Length + "" + argument.GenericParameterAttributes));
        Each (type.GetInterfaces, face => Ask (() => type.GetInterfaceMap (face)));
        Each (() => type.GetMembers (All), Member);
        Ask (() => type.GetDefaultMembers ());
        Attributes (type);
        if (type.IsEnum)
            Ask (() => Enum.GetValues (type).Length + Enum.GetNames (type).Length + Enum.GetUnderlyingType (type).Name);
        if (type.IsGenericTypeDefinition) {
            Ask (() => { One (type.MakeGenericType (Array.ConvertAll (type.GetGenericArguments (), a => typeof (object)))); return null; });
            return;
        }
        Ask (() => Marshal.SizeOf (type));
        Ask (() => Array.CreateInstance (type, 2).GetType ().FullName);
        if (type.IsSubclassOf (typeof (ContextBoundObject)) || HasFinalizer (type))
            return;
        Ask (() => FormatterServices.GetUninitializedObject (type));
        Ask (() => {
            object made = FormatterServices.GetUninitializedObject (type);
            return RuntimeHelpers.GetHashCode (made) + made.GetType ().FullName;
        });
    }

    // The finalizer would be the mutant's own code.
    static bool HasFinalizer (Type type)
    {
        MethodInfo finalizer = type.GetMethod ("Finalize", BindingFlags.NonPublic | BindingFlags.Instance, null, Type.EmptyTypes, null);
        return finalizer != null && finalizer.DeclaringType != typeof (object);
    }

    static IEnumerable<Type> Types (Assembly assembly)
    {
        try {
            return assembly.GetTypes ();
        } catch (ReflectionTypeLoadException e) {
            return e.Types;
        }
    }

    static void Whole (Assembly assembly)
    {
        Ask (() => assembly.GetName ().FullName);
        Ask (() => assembly.GetReferencedAssemblies ().Length);
        Ask (() => assembly.GetManifestResourceNames ().Length);
        Ask (() => assembly.EntryPoint.ToString ());
        Attributes (assembly);
        Ask (() => { Data (CustomAttributeData.GetCustomAttributes (assembly)); return null; });
        Each (assembly.GetModules, module => {
            Attributes (module);
            Each (() => module.GetMethods (All), Member);
            Each (() => module.GetFields (All), Member);
            for (int table = 1; table < 0x2c; table++) {
                for (int row = 1; row < 4; row++) {
                    int token = table << 24 | row;
                    Ask (() => module.ResolveMember (token));
                    Ask (() => module.ResolveSignature (token));
                }
            }
        });
        Each (() => Types (assembly), One);
    }

    static void Main (string[] args)
    {
        foreach (string line in File.ReadAllLines (args[0])) {
            Console.WriteLine (Path.GetFileName (Path.GetDirectoryName (line)));
            Ask (() => { Whole (Assembly.LoadFile (line)); return null; });
            GC.Collect ();
        }
        Console.WriteLine ("all");
        Console.Out.Flush ();
        // Not the handlers that a mutant may have set.
        Environment.Exit (0);
    }
}
