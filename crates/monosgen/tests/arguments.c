/* Internal calls with arguments in memory: what they get, and exceptions out of them. */
#include "api.h"

typedef struct { int64_t a, b, c; double d; } Large;

static MonoString *many (int a, int64_t b, MonoString *c, uint8_t d, int16_t e, MonoObject *f, int g, MonoString *h, int64_t i)
{
	char text [200], *cs = mono_string_to_utf8 (c), *fs = mono_string_to_utf8 ((MonoString *) f), *hs = mono_string_to_utf8 (h);
	snprintf (text, sizeof text, "%d %d %s %d %d %s %d %s %d", a, (int) b, cs, d, e, fs, g, hs, (int) i);
	mono_free (cs);
	mono_free (fs);
	mono_free (hs);
	return mono_string_new (domain, text);
}

static double floats (double a, float b, double c, double d, double e, double f, double g, double h, double i, float j, int k)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
}

static int64_t structs (Large a, int b, Large c, MonoString *d, double e)
{
	return a.a + 2 * a.b + 3 * a.c + (int64_t) a.d + 10 * b + 100 * (c.a + c.b + c.c + (int64_t) c.d) + 1000 * mono_string_length (d) + 10000 * (int64_t) e;
}

static int raises (int a, int b, int c, int d, int e, int f, int g, int h, MonoString *message)
{
	if (h % 5 == 0) {
		char *text = mono_string_to_utf8 (message);
		MonoException *exception = mono_exception_from_name_msg (mono_get_corlib (), "System", "ArgumentException", text);
		mono_free (text);
		mono_raise_exception (exception);
	}
	return a + b + c + d + e + f + g + h;
}

static int calls_back (int a, int b, int c, int d, int e, int f, int g, int depth, MonoString *message)
{
	void *args [] = { &depth, message };
	mono_gc_collect (0);
	MonoObject *exc = NULL;
	MonoObject *result = mono_runtime_invoke (method_named ("Program", "Back", 2), NULL, args, &exc);
	if (exc)
		mono_raise_exception ((MonoException *) exc);
	return *(int *) mono_object_unbox (result);
}

int main (int argc, char **argv)
{
	mono_config_parse (NULL);
	start (argv);
	mono_add_internal_call ("Some.Program::Many", many);
	mono_add_internal_call ("Some.Program::Floats", floats);
	mono_add_internal_call ("Some.Program::Structs", structs);
	mono_add_internal_call ("Some.Program::Raises", raises);
	mono_add_internal_call ("Some.Program::CallsBack", calls_back);
	mono_runtime_invoke (method_named ("Program", "Run", 0), NULL, NULL, NULL);
	mono_jit_cleanup (domain);
	return 0;
}
