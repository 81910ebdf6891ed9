package run

import (
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"

	"pollbench/bench/record"
)

// Machine describes the hardware that a run is made on. What the platform does not tell stays empty.
func Machine() record.Machine {
	m := record.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU()}
	if cpus, err := cpu.Info(); err == nil && len(cpus) > 0 {
		m.CPU = cpus[0].ModelName
	}
	if memory, err := mem.VirtualMemory(); err == nil {
		m.Memory = memory.Total
	}
	if kernel, err := host.KernelVersion(); err == nil {
		m.Kernel = kernel
	}
	return m
}
