// A page fault that takes as long as one wishes (Linux 5.11): the page's faults are handled by a thread that takes
// its time.
package main

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Of linux/userfaultfd.h.
const (
	uffdUserModeOnly = 1
	uffdAPI          = 0xc018aa3f
	uffdRegister     = 0xc020aa00
	uffdZeropage     = 0xc020aa04
	uffdVersion      = 0xaa
	uffdMissing      = 1
)

// The package syscall is frozen and does not have it.
var userfaultfd = map[string]uintptr{"amd64": 323, "arm64": 282}

func ioctl(handler, request uintptr, words []uint64) {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, handler, request, uintptr(unsafe.Pointer(&words[0])))
	if errno != 0 {
		fail("userfaultfd", errno.Error())
	}
}

func holdFault(stuck time.Duration) {
	call, known := userfaultfd[runtime.GOARCH]
	if !known {
		fail("no page fault can be made to wait: no number of userfaultfd for", runtime.GOARCH)
	}
	page, err := syscall.Mmap(-1, 0, syscall.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		fail("mmap", err.Error())
	}
	handler, _, errno := syscall.Syscall(call, syscall.O_CLOEXEC|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		fail("no page fault can be made to wait: userfaultfd", errno.Error())
	}
	at, size := uint64(uintptr(unsafe.Pointer(&page[0]))), uint64(len(page))
	ioctl(handler, uffdAPI, []uint64{uffdVersion, 0, 0})
	ioctl(handler, uffdRegister, []uint64{at, size, uffdMissing, 0})
	go func() {
		// A thread of its own, asleep in the kernel: it needs Go's scheduler only when the time is over.
		runtime.LockOSThread()
		asleep := syscall.NsecToTimespec(int64(stuck))
		for syscall.Nanosleep(&asleep, &asleep) == syscall.EINTR {
		}
		ioctl(handler, uffdZeropage, []uint64{at, size, 0, 0})
		syscall.Close(int(handler))
	}()
	touched = page[0]
	syscall.Munmap(page)
}

// touched keeps the page's byte from being thought useless.
var touched byte
