// SPDX-License-Identifier: MIT
// Functions of known cost in Go: see costs.h.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

const allSteps = 100000

var state uint64 = 88172645463325252
var stepsOf [9]uint64

//go:noinline
func plain(steps uint64) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[0] += steps
}

type box struct{ row int }

//go:noinline
func (b *box) method(steps uint64) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[b.row] += steps
}

type value int

//go:noinline
func (v value) method(steps uint64) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[v] += steps
}

type worker interface{ method(steps uint64) }

//go:noinline
func generic[T uint32 | uint64](steps T, row int) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[3+row] += uint64(steps)
}

//go:noinline
func recursive(steps uint64, depth int) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[4] += steps
	if depth > 1 {
		recursive(steps, depth-1)
	}
}

//go:noinline
func apply(steps uint64, function func(uint64)) {
	function(steps)
}

//go:noinline
func closure(steps uint64) {
	row := 5
	apply(steps, func(steps uint64) {
		x := state
		for i := steps; i > 0; i-- {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		state = x
		stepsOf[row] += steps
	})
}

//go:noinline
func later(steps uint64) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[6] += steps
}

//go:noinline
func deferred(steps uint64) {
	defer later(steps)
}

//go:noinline
func routine(steps uint64, done chan bool) {
	x := state
	for i := steps; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	state = x
	stepsOf[7] += steps
	done <- true
}

func main() {
	names := []string{
		"main.plain", "main.(*box).method", "main.value.method",
		"main.generic[go.shape.uint64_0]", "main.recursive",
		"main.closure.func1", "main.later", "main.routine",
		"main.generic[go.shape.uint32_0]",
	}
	calls := []struct {
		call   func(uint64)
		weight uint64
	}{
		{plain, 10},
		{(&box{1}).method, 8},
		{func(steps uint64) {
			var w worker = value(2)
			w.method(steps)
		}, 6},
		{func(steps uint64) {
			generic(steps/2, 0)
			generic(uint32(steps/2), 5)
		}, 9},
		{func(steps uint64) { recursive(steps/8, 8) }, 7},
		{closure, 6},
		{deferred, 5},
		{func(steps uint64) {
			done := make(chan bool)
			go routine(steps, done)
			<-done
		}, 4},
	}
	rounds := 1000
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	total := uint64(0)
	for _, c := range calls {
		total += c.weight
	}
	random := uint64(88172645463325252)
	io.ReadAll(os.Stdin)
	for ; rounds > 0; rounds-- {
		random = random*6364136223846793005 + 1442695040888963407
		pick := (random >> 33) % total
		for _, c := range calls {
			if pick < c.weight {
				c.call(allSteps)
				break
			}
			pick -= c.weight
		}
	}
	for i, name := range names {
		fmt.Println(stepsOf[i], name)
	}
}
