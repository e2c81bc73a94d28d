// Work for profilers: the same in C#, Go and Java. Arguments: calls, floats, alloc or trees; rounds. CPU_PROFILE names the file of a profile at 1 kHz.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
)

type small struct{ value int }

type tree struct{ left, right *tree }

func build(depth int) *tree {
	t := new(tree)
	if depth > 0 {
		t.left = build(depth - 1)
		t.right = build(depth - 1)
	}
	return t
}

func (t *tree) count() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

var kept *small

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func element(i, j int) float64 { return 1.0 / float64((i+j)*(i+j+1)/2+i+1) }

func floats(n int) float64 {
	sum := 0.0
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			sum += element(i, j)
		}
	}
	return sum
}

func alloc(count int) int {
	for i := 0; i < count; i++ {
		kept = &small{i}
	}
	return kept.value + 1
}

func round(mode string) int {
	switch mode {
	case "calls":
		return fib(32)
	case "floats":
		return int(1000 * floats(500))
	case "alloc":
		return alloc(1000000)
	case "trees":
		return build(14).count()
	}
	panic(mode)
}

func main() {
	if path := os.Getenv("CPU_PROFILE"); path != "" {
		file, err := os.Create(path)
		if err != nil {
			panic(err)
		}
		// StartCPUProfile keeps a rate that is set, and says so on standard error.
		runtime.SetCPUProfileRate(1000)
		if err := pprof.StartCPUProfile(file); err != nil {
			panic(err)
		}
		defer pprof.StopCPUProfile()
	}
	rounds, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	sum := 0
	for ; rounds > 0; rounds-- {
		sum += round(os.Args[1])
	}
	fmt.Println(sum)
}
