// The C++ wrapper: objects, values, functions, exceptions in both directions, threads, the end.
#include <saki.hpp>
#include <atomic>
#include <iostream>
#include <map>
#include <thread>

using saki::Class;
using saki::Error;
using saki::Object;
using saki::Value;
using saki::Values;

template <class Body>
static void fails(const char *what, Body body)
{
	try {
		body();
		std::cout << what << ": no error\n";
	} catch (const Error &error) {
		std::cout << what << ": " << error.what() << "\n";
	}
}

static void run(const saki::Assembly &assembly)
{
	Class counter = assembly.type("Some.Counter"), derived = assembly.type("Some.Derived");
	Class host = assembly.type("Some.Host");
	std::cout << assembly.name() << " " << counter.name() << " " << (counter == assembly.type("Some.Counter")) << "\n";

	Object first = counter.make("first");
	std::cout << first.call("Add", 40).i32() << " " << first << "\n";
	first.set("Count", 42);
	Object copy = first, moved = std::move(first);
	std::cout << copy.to_string() << " " << (copy == moved) << " " << !first << " " << moved.get("Name").text() << "\n";
	Object other = derived.make();
	std::cout << counter.method("Add", 1).invoke(other, {2}).i32() << " " << other.is(counter) << " "
		<< moved.is(derived) << " " << (other.type() == derived) << "\n";
	std::cout << counter.method("Mean", {Class::core("System.Single"), Class::core("System.Byte"),
		Class::core("System.Int64")}).invoke({}, {1.5f, uint8_t{2}, int64_t{4}}).f64() << "\n";
	std::cout << counter.call("All", true, u'c', int8_t{-1}, uint8_t{255}, int16_t{-2}, uint16_t{65535}, -3,
		4000000000u, int64_t{-4}, uint64_t{18000000000000000000u}, 1.5f, 0.25, nullptr, std::string_view("text"))
		.text() << "\n";
	counter.property("Count").set(moved, 6);
	std::cout << counter.property("Count").value(moved).i32() << " " << counter.field("Made").value().i32() << "\n";
	counter.set("Total", int64_t{9});
	std::cout << counter.get("Total").i64() << " " << Class::core("System.Int64").box(int64_t{-7}).unboxed().i64() << "\n";

	Class int32 = Class::core("System.Int32");
	Object list = Class::core("System.Collections.Generic.List`1").generic({int32}).make();
	for (int i = 0; i < 1000; i++)
		list.call("Add", i);
	Object array = list.call("ToArray").object();
	std::vector<int32_t> numbers(array.length());
	array.read(0, numbers.data(), numbers.size());
	numbers[999] = -1;
	array.write(999, &numbers[999], 1);
	array.set_at(0, 8);
	std::cout << numbers.size() << " " << numbers[500] << " " << array.at(999).i32() << " " << array.at(0).i32() << "\n";
	Object texts = Class::core("System.String").array(2);
	texts.set_at(1, "second");
	std::cout << texts.at(0).is_null() << " " << texts.at(1).text() << "\n";

	fails("thrown", [&] { counter.call("Throw", "bad"); });
	fails("missing", [&] { counter.call("Nothing"); });
	fails("null", [&] { Object().call("ToString"); });
	fails("kind", [&] { (void) moved.get("Name").i32(); });
	try {
		counter.call("Throw", "with an object");
	} catch (const Error &error) {
		std::cout << error.type() << " " << error.exception().get("Message").text() << " "
			<< (error.stack().find("Some.Counter.Throw") != std::string::npos) << " "
			<< (error.text().find("System.FormatException: ") == 0) << "\n";
	}
	std::cout << host.call("Asked").text() << "\n" << host.call("Failures").text() << "\n";
	fails("from below", [&] { host.call("Deeper", 10); });

	std::string prefix = "-";
	Object join = assembly.type("Some.Join").delegate([prefix](const Values &arguments) -> Value {
		saki::collect();
		return prefix + arguments[0].text() + "/" + std::to_string(arguments[1].i32()) + "/"
			+ arguments[2].object().get("Text").text();
	});
	std::cout << host.call("UseJoin", join).text() << "\n";
	std::atomic<int> calls{0};
	Object twice = Class::core("System.Func`2").generic({int32, int32}).delegate([&calls](const Values &arguments) {
		calls++;
		return Value(arguments[0].i32() * 2);
	});
	int sum = host.call("Threads", twice, 4, 50).i32();
	std::cout << sum << " " << calls << "\n";

	std::atomic<int> bad{0};
	std::vector<std::thread> threads;
	for (int t = 0; t < 6; t++) {
		threads.emplace_back([&, t] {
			for (int i = 0; i < 50; i++) {
				std::unique_ptr<saki::Attachment> attachment;
				if (t % 2)
					attachment = std::make_unique<saki::Attachment>();
				Object own = counter.make("own");
				bad += own.call("Add", i).i32() != i;
				bad += moved.get("Name").text() != "first";
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	std::cout << "bad: " << bad << "\n";
}

static saki::Object kept;

int main(int, char **argv)
{
	std::cout << std::boolalpha;
	std::map<std::string, saki::Function> ways = {
		{"own", [](const Values &) -> Value { throw Error("System.TimeoutException", "too late"); }},
		{"object", [](const Values &) -> Value { throw std::runtime_error("of C++"); }},
		{"through", [](const Values &) -> Value {
			saki::Assembly host = saki::Assembly::named("some");
			return host.type("Some.Host").call("ThrowKept");
		}},
		{"argument", [](const Values &) -> Value { throw 1; }},
		{"wrong result", [](const Values &) -> Value { return Value("no void"); }},
	};
	saki::add_function("Some.Host::Ask", [](const Values &arguments) -> Value {
		return arguments[0].text() + " " + std::to_string(arguments[1].i32()) + " "
			+ arguments[2].object().get("Text").text();
	});
	saki::add_function("Some.Host::Self", [](const Values &arguments) -> Value {
		kept = arguments[0].object();
		return double(arguments[1].f32()) * 2;
	});
	saki::add_function("Some.Host::Fail", [&ways](const Values &arguments) -> Value {
		auto way = ways.find(arguments[0].text());
		return way == ways.end() ? Value() : way->second(arguments);
	});
	saki::add_function("Some.Host::Down", [](const Values &arguments) -> Value {
		return saki::Assembly::named("some").type("Some.Host").call("Deeper", arguments[0]);
	});
	fails("no option", [] { saki::Options().set("threads", "many"); });
	saki::Machine machine(saki::Options().set("threads", argv[2]));
	saki::Assembly assembly = saki::Assembly::load(argv[1]);
	run(assembly);
	std::cout << "kept: " << kept << "\n";
	kept = Object();
	std::cout << "left: " << saki_live_objects() << "\n";
	std::cout << "end: " << machine.end() << "\n";
	fails("after the end", [&] { assembly.type("Some.Host"); });
	return 0;
}
