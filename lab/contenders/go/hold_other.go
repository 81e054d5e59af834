//go:build !linux

package main

import "time"

func holdFault(time.Duration) {
	fail("a page fault cannot be made to wait", "only Linux has userfaultfd")
}
