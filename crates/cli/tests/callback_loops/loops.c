/* A loop that waits and calls back: it repeats its wait after signals, asks the callback each time, and gives up after the third. */
#include <errno.h>
#include <poll.h>

int wait_with_callback (int (*is_over) (void))
{
	int signals = 0;
	while (poll (0, 0, -1) == -1 && errno == EINTR) {
		if (is_over ())
			return -1;
		if (++signals == 3)
			break;
	}
	return signals;
}
