/* A thread that the host aborts, which ends the process under Mono if the thread waits. */
#include "api.h"

int main (int argc, char **argv)
{
	start (argv);
	int ms = 20000;
	MonoObject *thread = mono_runtime_invoke (method_named ("Natives", "Sleeper", 1), NULL, (void *[]) { &ms }, NULL);
	mono_thread_stop ((MonoThread *) thread);
	show_string ("stopped", mono_runtime_invoke (method_named ("Natives", "Joined", 1), NULL, (void *[]) { thread }, NULL));
	return 0;
}
