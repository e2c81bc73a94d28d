/* Options of mono that a host passes: what they do, each in a child. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *P;
void mono_jit_parse_options (int argc, char **argv);
P mono_jit_init (const char *name);
P mono_domain_assembly_open (P domain, const char *name);
P mono_assembly_get_image (P assembly);
P mono_class_from_name (P image, const char *space, const char *name);
P mono_class_get_method_from_name (P class, const char *name, int count);
P mono_runtime_invoke (P method, P object, P *params, P *exc);
P mono_string_new (P domain, const char *text);

/* Parses the options, calls Thing.Add, and counts lines of the child's output that have the word. */
static void check (const char *what, int argc, char **options, const char *library, const char *word)
{
	int ends[2], status, lines = 0;
	if (pipe (ends))
		return;
	pid_t child = fork ();
	if (child == 0) {
		dup2 (ends[1], 1);
		close (ends[0]);
		mono_jit_parse_options (argc, options);
		P domain = mono_jit_init ("options");
		P image = mono_assembly_get_image (mono_domain_assembly_open (domain, library));
		P method = mono_class_get_method_from_name (mono_class_from_name (image, "Some", "Thing"), "Add", 2);
		int number = 1;
		P params[] = { &number, mono_string_new (domain, "text") };
		mono_runtime_invoke (method, NULL, params, NULL);
		fflush (stdout);
		_exit (0);
	}
	close (ends[1]);
	FILE *out = fdopen (ends[0], "r");
	char line[1024];
	while (fgets (line, sizeof line, out))
		lines += strstr (line, word) != NULL;
	fclose (out);
	waitpid (child, &status, 0);
	printf ("%s: exit code %d, %d lines\n", what, WEXITSTATUS (status), lines);
	fflush (stdout);
}

int main (int argc, char **argv)
{
	char *compiler[] = { "-O=all", "--optimize=-inline", "-v", "--verbose", "app.exe", "--nonsense" };
	char *trace[] = { "-O=all", "--trace=M:Some.Thing:Add" }, *nonsense[] = { "--nonsense" };
	(void) argc;
	check ("compiler", 6, compiler, argv[1], "ENTER");
	check ("trace", 2, trace, argv[1], "ENTER");
	check ("nonsense", 1, nonsense, argv[1], "ENTER");
	return 0;
}
