/* A host that runs the command `mono`. */
#include <stdio.h>

extern int mono_main (int argc, char **argv);

int main (int argc, char **argv)
{
	char *words [] = { "mono", "--debug", "--config", "/dev/null", argv [1], "first", "--second", NULL };
	setvbuf (stdout, NULL, _IOLBF, 0);
	int code = mono_main (7, words);
	printf ("code %d\n", code);
	return 0;
}
