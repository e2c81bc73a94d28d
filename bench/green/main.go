// The benchmarks of Program.cs for Go: goroutines, a mutex with a condition for each monitor, and where Go has a form of its
// own for the same (semaphores, gates, queues: channels), that one.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func print(name string, value float64) { fmt.Printf("%s %.3f\n", name, value) }

// Nanoseconds an operation: see Figures.Nanoseconds.
func nanoseconds(first int64, run func(int64)) float64 {
	const targetSeconds, rounds = 0.5, 3
	seconds := func(count int64) float64 {
		start := time.Now()
		run(count)
		return time.Since(start).Seconds()
	}
	count := first
	for {
		s := seconds(count)
		if s >= targetSeconds/3 {
			break
		}
		count *= int64(max(2, min(10, targetSeconds/(s+1e-6))))
	}
	best := 1e9
	for i := 0; i < rounds; i++ {
		best = min(best, seconds(count))
	}
	return best * 1e9 / float64(count)
}

func statusBytes(name string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, name+":") {
			kib, err := strconv.ParseInt(strings.Fields(line)[1], 10, 64)
			if err != nil {
				panic(err)
			}
			return 1024 * float64(kib)
		}
	}
	panic(name)
}

type cell interface {
	take()
	give()
}

type monitorCell struct {
	sync.Mutex
	condition *sync.Cond
	hasToken  bool
}

func (c *monitorCell) take() {
	c.Lock()
	for !c.hasToken {
		c.condition.Wait()
	}
	c.hasToken = false
	c.Unlock()
}

func (c *monitorCell) give() {
	c.Lock()
	c.hasToken = true
	c.condition.Signal()
	c.Unlock()
}

type channelCell chan struct{}

func (c channelCell) take() { <-c }
func (c channelCell) give() { c <- struct{}{} }

type ring struct {
	cells    []cell
	hopsLeft int64
	last     int
	isDone   chan struct{}
	members  sync.WaitGroup
}

func newRing(withMonitors bool, size, depth int) *ring {
	r := &ring{cells: make([]cell, size), isDone: make(chan struct{}, 1)}
	for i := range r.cells {
		if withMonitors {
			c := &monitorCell{}
			c.condition = sync.NewCond(&c.Mutex)
			r.cells[i] = c
		} else {
			r.cells[i] = channelCell(make(chan struct{}, 1))
		}
	}
	r.members.Add(size)
	for i := range r.cells {
		go func() {
			defer r.members.Done()
			r.descend(depth, i)
		}()
	}
	return r
}

//go:noinline
func (r *ring) descend(depth, member int) int {
	if depth == 0 {
		r.loop(member)
		return 0
	}
	return r.descend(depth-1, member) + 1
}

func (r *ring) loop(member int) {
	next := (member + 1) % len(r.cells)
	for {
		r.cells[member].take()
		left := r.hopsLeft
		switch {
		case left > 0:
			r.hopsLeft = left - 1
			r.cells[next].give()
		case left == 0:
			r.last = member
			r.isDone <- struct{}{}
		default:
			if next != 0 {
				r.cells[next].give()
			}
			return
		}
	}
}

func (r *ring) pass(hops int64) {
	r.hopsLeft = hops
	r.cells[0].give()
	<-r.isDone
}

func (r *ring) stop() {
	r.hopsLeft = -1
	r.cells[0].give()
	r.members.Wait()
}

func measureRing(withMonitors bool, size, depth int) {
	r := newRing(withMonitors, size, depth)
	print("hop", nanoseconds(int64(size), r.pass))
	print("at", float64(size))
	r.stop()
}

func threadRing(size, hops int) {
	start := time.Now()
	r := newRing(true, size, 0)
	r.pass(int64(hops))
	seconds := time.Since(start).Seconds()
	if r.last != hops%size {
		panic(r.last)
	}
	print("seconds", seconds*50e6/float64(hops))
	print("at", float64(hops))
	r.stop()
}

func create() {
	print("create", nanoseconds(1000, func(count int64) {
		done := make(chan struct{})
		for i := int64(0); i < count; i++ {
			go func() { done <- struct{}{} }()
			<-done
		}
	}))
}

func gather(count int) (gate chan struct{}, members *sync.WaitGroup) {
	gate, members = make(chan struct{}), &sync.WaitGroup{}
	var parked atomic.Int64
	members.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			parked.Add(1)
			<-gate
			members.Done()
		}()
	}
	for parked.Load() < int64(count) {
		time.Sleep(time.Millisecond)
	}
	return gate, members
}

func park(count, rounds int) {
	gate, members := gather(10)
	close(gate)
	members.Wait()
	runtime.GC()
	resident, tables := statusBytes("VmRSS"), statusBytes("VmPTE")
	next := 1e9
	for round := 0; round < rounds; round++ {
		start := time.Now()
		gate, members := gather(count)
		spent := time.Since(start)
		if round == 0 {
			runtime.GC()
			print("resident", (statusBytes("VmRSS")-resident)/float64(count))
			print("tables", (statusBytes("VmPTE")-tables)/float64(count))
		}
		start = time.Now()
		close(gate)
		members.Wait()
		microseconds := (spent + time.Since(start)).Seconds() * 1e6 / float64(count)
		if round == 0 {
			print("first", microseconds)
		} else {
			next = min(next, microseconds)
		}
	}
	if rounds > 1 {
		print("next", next)
	}
	print("at", float64(count))
}

func runAll(bodies ...func()) {
	var all sync.WaitGroup
	all.Add(len(bodies))
	for _, body := range bodies {
		go func() {
			defer all.Done()
			body()
		}()
	}
	all.Wait()
}

func yields() {
	print("switch", nanoseconds(10000, func(count int64) {
		body := func() {
			for i := int64(0); i < count/2; i++ {
				runtime.Gosched()
			}
		}
		runAll(body, body)
	}))
}

func pingPong() {
	print("hand-over", nanoseconds(1000, func(count int64) {
		to, back := make(chan struct{}), make(chan struct{})
		runAll(func() {
			for i := int64(0); i < count/2; i++ {
				to <- struct{}{}
				<-back
			}
		}, func() {
			for i := int64(0); i < count/2; i++ {
				<-to
				back <- struct{}{}
			}
		})
	}))
}

func contendedLock(threads int) {
	print("lock", nanoseconds(100000, func(count int64) {
		var gate sync.Mutex
		shared, each := int64(0), count/int64(threads)
		bodies := make([]func(), threads)
		for t := range bodies {
			bodies[t] = func() {
				for i := int64(0); i < each; i++ {
					gate.Lock()
					shared++
					gate.Unlock()
				}
			}
		}
		runAll(bodies...)
		if shared != each*int64(threads) {
			panic("lost updates")
		}
	}))
}

func boundedQueue(capacity int) {
	print("item", nanoseconds(10000, func(count int64) {
		items, half := make(chan int64, capacity), count/2
		var sum atomic.Int64
		produce := func() {
			for i := int64(0); i < half; i++ {
				items <- i
			}
		}
		consume := func() {
			mine := int64(0)
			for i := int64(0); i < half; i++ {
				mine += <-items
			}
			sum.Add(mine)
		}
		runAll(produce, consume, produce, consume)
		if sum.Load() != half*(half-1) {
			panic("wrong sum")
		}
	}))
}

func sleepers(count int) {
	start := time.Now()
	var all sync.WaitGroup
	all.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			time.Sleep(100 * time.Millisecond)
			all.Done()
		}()
	}
	all.Wait()
	print("seconds", time.Since(start).Seconds())
	print("at", float64(count))
}

var sink atomic.Int64

func ticker(hogs int) {
	const measured = 3 * time.Second
	var stop atomic.Bool
	for i := 0; i < hogs; i++ {
		go func() {
			mine := int64(1)
			for !stop.Load() {
				mine = mine*31 + 7
			}
			sink.Add(mine)
		}()
	}
	worst := time.Duration(0)
	runAll(func() {
		start, before := time.Now(), time.Duration(0)
		for before < measured {
			time.Sleep(time.Millisecond)
			now := time.Since(start)
			worst = max(worst, now-before)
			before = now
		}
	})
	stop.Store(true)
	print("gap", worst.Seconds()*1000)
}

func compute(value int64) int64 {
	for i := 0; i < 100000; i++ {
		value = value*6364136223846793005 + 1442695040888963407
	}
	return value
}

func scale(count int) {
	run := func() float64 {
		start := time.Now()
		var all sync.WaitGroup
		all.Add(count)
		for i := 0; i < count; i++ {
			go func() {
				sink.Add(compute(int64(i)))
				all.Done()
			}()
		}
		all.Wait()
		return time.Since(start).Seconds()
	}
	run()
	print("seconds", min(run(), run(), run()))
}

func blocking(count, milliseconds int) {
	best := 1e9
	for round := 0; round < 3; round++ {
		start := time.Now()
		var all sync.WaitGroup
		all.Add(count)
		for i := 0; i < count; i++ {
			go func() {
				left := syscall.NsecToTimespec(int64(milliseconds) * 1e6)
				for syscall.Nanosleep(&left, &left) == syscall.EINTR {
				}
				all.Done()
			}()
		}
		all.Wait()
		best = min(best, time.Since(start).Seconds()*1000)
	}
	print("milliseconds", best)
}

func main() {
	number := func(place int) int {
		value, err := strconv.Atoi(os.Args[place+1])
		if err != nil {
			panic(err)
		}
		return value
	}
	switch os.Args[1] {
	case "switch":
		yields()
	case "ring":
		measureRing(os.Args[2] == "monitor", number(2), number(3))
	case "thread-ring":
		threadRing(number(1), number(2))
	case "create":
		create()
	case "park":
		park(number(1), number(3))
	case "ping-pong":
		pingPong()
	case "lock":
		contendedLock(number(1))
	case "queue":
		boundedQueue(number(1))
	case "sleepers":
		sleepers(number(1))
	case "ticker":
		ticker(number(1))
	case "scale":
		scale(number(1))
	case "blocking":
		blocking(number(1), number(2))
	default:
		fmt.Fprintln(os.Stderr, "no such benchmark:", os.Args[1])
		os.Exit(2)
	}
}
