// Objects that outlive their thread's storage: globals, which go at the process's exit, and thread-local ones.
#include <saki.hpp>
#include <iostream>
#include <thread>

static saki::Object global;

struct Late {
	~Late()
	{
		// A call in a destructor, too.
		try {
			std::string text = global.to_string();
			std::cout << "late: " << text << std::endl;
		} catch (const saki::Error &error) {
			std::cout << "late: " << error.what() << std::endl;
		}
	}
};
static Late late;

thread_local saki::Object of_thread;

int main(int, char **argv)
{
	saki::Machine machine(saki::Options().set("threads", argv[2]));
	global = saki::Object::string("global");
	of_thread = saki::Object::string("of the thread");
	std::thread([] {
		of_thread = saki::Object::string("of another");
		std::cout << of_thread.text() << "\n";
	}).join();
	std::cout << global.text() << " " << saki_live_objects() << std::endl;
	return 0;
}
