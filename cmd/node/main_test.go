package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asProgram in the environment makes the test's binary the program itself, which signals would end.
const asProgram = "POLLBENCH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args     []string
		javaHome string
		code     int
		says     string
	}{
		{[]string{"-telepathy"}, "", 2, "telepathy"},
		{[]string{"folder"}, "", 2, `takes no arguments, got ["folder"]`},
		{[]string{"-home", t.TempDir()}, "/nowhere", 1, "no Java in JAVA_HOME /nowhere"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), c.args, func(name string) string { return map[string]string{"JAVA_HOME": c.javaHome}[name] }, &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.says) || stdout.Len() > 0 {
			t.Errorf("node %q: exit code %d, said %q and %q; want %d and %q", c.args, code, &stdout, &stderr, c.code, c.says)
		}
	}
}

// Whatever signal ends a build, what was built so far does not stay behind.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins for Java and Maven are shell scripts")
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			bin, place := t.TempDir(), t.TempDir()
			script(t, filepath.Join(bin, "bin", "java"), "echo '    java.home = "+bin+"\n    java.version = 17.0.1'")
			script(t, filepath.Join(bin, "bin", "javac"), "")
			script(t, filepath.Join(bin, "mvn"), `case "$*" in *-v) echo "Apache Maven 3.8.7" ;; *) exec sleep 600 ;; esac`)
			program := exec.Command(os.Args[0], "-home", filepath.Join(place, "node"))
			program.Env = append(os.Environ(), asProgram+"=1", "JAVA_HOME="+bin, "PATH="+bin+":/usr/bin:/bin")
			stderr, err := program.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			// The folder to build in is there when it says that it builds.
			said := bufio.NewReader(stderr)
			if line, err := said.ReadString('\n'); err != nil || !strings.HasPrefix(line, "building ") {
				t.Errorf("said %q, %v", line, err)
			}
			if err := program.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			more, _ := io.ReadAll(said)
			_ = program.Wait() // its exit code is looked at
			if code := program.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit code %d (-1: killed by the signal), said %s", code, more)
			}
			if left, err := os.ReadDir(place); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
