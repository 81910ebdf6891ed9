package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pollbench/bench/analysis"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/report"
	bench "pollbench/bench/run"
	"pollbench/bench/scenario"
	"pollbench/scenarios"
)

// runner is one call of the run command.
type runner struct {
	choice
	targetFlags
	target   *target
	out      string
	progress string
	json     bool
	stdout   io.Writer
	stderr   io.Writer
}

// job is one scenario to run and the folder for its result.
type job struct {
	scenario scenario.Scenario
	plan     plan.Plan
	dir      string
	made     bool // the folder was not there before
	command  []string
}

func newRun() *cobra.Command {
	r := &runner{}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|FILE…]",
		Short: "Play a scenario's dashboards and measure them",
		Long: `Play a scenario's dashboards against an embedded Elasticsearch and dashboard servers on the loopback interface, and measure
each load. A shipped scenario's name beats a file; ./name always means the file; without any, sawtooth is run.

--backend node and container start a real Elasticsearch instead of the embedded one, --elasticsearch takes one that runs
already, --dashboard a Kibana that does. An API key or a user is taken from the environment alone: ` + apiKeyVariable + `, or
` + userVariable + ` and ` + passwordVariable + `.

The result goes into a folder of its own: manifest.json before the first request, observations.ndjson as loads end, analysis.json
at the end. Ctrl-C ends the run and keeps the loads that have ended. All run at once, so that the first ends late; with --alone they end one
by one.`,
		Example: "  pollbench run\n  pollbench run sawtooth --delays 1s..6s --protocols h2 --out results/short\n" +
			"  pollbench run --backend node --repeats 3\n  pollbench run smoke --dashboard https://127.0.0.1:5601 --ca-file ca.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.stdout, r.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return r.run(cmd.Context(), args)
		},
	}
	r.chooseFlags(cmd)
	r.planFlags(cmd)
	f := cmd.Flags()
	r.targetFlags.add(f)
	f.StringVar(&r.out, "out", "", "`DIR` for the result, not there yet or empty; with several scenarios, their folders' parent (default results/TIME-SCENARIO)")
	f.StringVar(&r.progress, "progress", "auto", "how to show progress: auto, plain or none")
	f.BoolVar(&r.json, "json", false, "write the analysis as JSON on standard output, and nothing else there")
	return cmd
}

func (r *runner) run(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = []string{"sawtooth"}
	}
	if err := checkProgress(r.progress); err != nil {
		return usage(err)
	}
	var err error
	if r.target, err = r.targetFlags.check(r.cmd.Flags().Changed, os.Getenv, r.step); err != nil {
		return err
	}
	jobs, err := r.jobs(names)
	if err != nil {
		return err
	}
	timer, err := clock.New()
	if err != nil {
		return err
	}
	defer timer.Close()
	// The first signal ends the run and keeps what was measured; a second one ends the program as it would any other.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	for _, j := range jobs {
		if err := r.play(ctx, timer, j, len(jobs) > 1); err != nil {
			return err
		}
	}
	return nil
}

// jobs reads every scenario and prepares every folder before anything runs: a slip in the last one costs no minute of the first.
func (r *runner) jobs(names []string) ([]job, error) {
	var jobs []job
	var errs []error
	taken := map[string]bool{}
	for _, name := range names {
		s, err := r.scenario(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if taken[s.Name] {
			errs = append(errs, usage(fmt.Errorf("scenario %q is there twice: its results would share a folder", s.Name)))
		}
		taken[s.Name] = true
		if err := r.target.Plays(s); err != nil {
			errs = append(errs, usage(err))
		}
		jobs = append(jobs, job{scenario: s, dir: r.dir(s.Name, len(names)), command: r.command(name)})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for i, j := range jobs {
		_, err := os.Stat(j.dir)
		jobs[i].made = errors.Is(err, fs.ErrNotExist)
		if err := record.Prepare(j.dir); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// dir is the result's folder.
func (r *runner) dir(scenario string, of int) string {
	switch {
	case r.out == "":
		return filepath.Join("results", time.Now().Format("20060102-150405")+"-"+scenario)
	case of > 1:
		return filepath.Join(r.out, scenario)
	}
	return r.out
}

// command is the line that runs the same again. Where the result went and the node is are left out, and what another machine is called: they may name
// their owner.
func (r *runner) command(scenario string) []string {
	if _, shipped := scenarios.Source(scenario); !shipped {
		scenario = "./" + filepath.Base(scenario)
	}
	line := []string{"pollbench", "run", scenario}
	r.cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "out", "progress", "json", "node-home":
		case "alone", "allow-remote":
			line = append(line, "--"+f.Name)
		case "ca-file":
			line = append(line, "--ca-file", filepath.Base(f.Value.String()))
		case "elasticsearch", "dashboard":
			line = append(line, "--"+f.Name, r.target.named(f.Value.String()))
		default:
			line = append(line, "--"+f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	return line
}

// play runs one scenario, whatever happens keeps what was measured, and shows it.
func (r *runner) play(ctx context.Context, timer clock.Clock, j job, several bool) (failed error) {
	defer func() {
		if failed != nil && j.made {
			_ = os.Remove(j.dir) // if there is nothing in it
		}
	}()
	err := r.measure(ctx, timer, j)
	interrupted := ctx.Err() != nil
	a, text, unread := analyse(j.dir)
	switch {
	case interrupted && unread != nil:
		why := ": all loads run at once, and with --alone one by one"
		if j.plan.Alone {
			why = ""
		}
		return fmt.Errorf("%w before the first load ended: nothing was measured%s (%s)", errInterrupted, why, j.dir)
	case err != nil && unread != nil: // it ended before anything was measured
		return err
	case unread != nil:
		return unread
	}
	if err := record.WriteAnalysis(j.dir, text); err != nil {
		return err
	}
	if err := r.show(a, text, several); err != nil {
		return err
	}
	fmt.Fprintf(r.stderr, "result in %s\n", j.dir)
	if interrupted {
		return fmt.Errorf("%w: the loads that had ended are kept in %s", errInterrupted, j.dir)
	}
	if err != nil {
		return fmt.Errorf("the run ended early, and the loads that had ended are kept in %s: %w", j.dir, err)
	}
	if finished(a) == 0 {
		return fmt.Errorf("no load of %s finished: see %s", j.scenario.Name, filepath.Join(j.dir, record.ObservationsFile))
	}
	return nil
}

// measure starts the servers, makes the plan that they can bear, writes the manifest and plays the plan.
func (r *runner) measure(ctx context.Context, timer clock.Clock, j job) (err error) {
	bench.Tune(j.scenario)
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = errors.Join(err, r.target.log.keep(j.dir))
		}
	}()
	if r.target.remote != "" {
		// The server may turn out to bear less than it is allowed to get, but not more.
		j.plan = r.plan(j.scenario, r.target.AtOnce, plan.RealSpacing)
		if err := r.target.announce(j, r.tell); err != nil {
			return err
		}
	}
	r.target.log.begin()
	backend, err := bench.Start(ctx, timer, bench.Loopback(), j.scenario, r.target.Target)
	if err != nil {
		return err
	}
	defer func() {
		// Servers that end badly have lost nothing of ours, once every load has; but what is left on somebody else's has to be known.
		if closed := backend.Close(); closed != nil {
			r.tell(closed.Error())
		}
	}()
	j.plan = r.plan(j.scenario, backend.AtOnce(), backend.Spacing())
	w, err := record.Create(j.dir, manifest(j, backend))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	show := newProgress(r.progress, r.stderr, j)
	defer show.end()
	return bench.Run(ctx, bench.Options{
		Scenario: j.scenario, Plan: j.plan, Clock: timer, Backend: backend, Record: w.Append, Progress: show.update,
	})
}

// step tells what is going on before anything is measured.
func (r *runner) step(text string) {
	if r.progress != "none" {
		r.tell(text)
	}
}

// tell says what has to be known, whether anybody wants to see progress or not.
func (r *runner) tell(text string) { fmt.Fprintln(r.stderr, text) }

func manifest(j job, b *bench.Backend) record.Manifest {
	return record.Manifest{
		Schema:       record.Schema,
		Created:      time.Now().UTC().Format(time.RFC3339),
		Command:      j.command,
		Scenario:     j.scenario,
		ScenarioHash: j.scenario.Hash(),
		Plan:         j.plan,
		Versions:     versions(),
		Machine:      bench.Machine(),
		Backend:      b.Describe(),
	}
}

func (r *runner) show(a analysis.Analysis, text []byte, several bool) (err error) {
	switch {
	case !r.json:
		text, err = report.Write(a, "text")
	case several:
		text, err = report.Line(a)
	}
	if err != nil {
		return err
	}
	if _, err := r.stdout.Write(text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// analyse reads a result folder and gives its analysis, also as JSON.
func analyse(dir string) (analysis.Analysis, []byte, error) {
	result, err := record.Open(dir)
	if err != nil {
		return analysis.Analysis{}, nil, err
	}
	a := analysis.Analyse(result)
	text, err := report.JSON(a)
	return a, text, err
}

func finished(a analysis.Analysis) int {
	var n int
	for _, c := range a.Cells {
		n += c.Finished
	}
	return n
}
