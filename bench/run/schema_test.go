package run

import (
	"bytes"
	"math"
	"testing"
	"testing/synctest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pollbench/bench/analysis"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/report"
	"pollbench/bench/scenario"
)

// The analysis of real loads, complete and cut short, is held against the published schema.
func TestAnalysisSchema(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	schema, err := compiler.Compile("../../docs/schema/analysis-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"smoke", "http1-vice", "last-hop", "crowded-browser", "mixed-dashboard", "idle-proxy"} {
		s := shipped(t, name)
		var trials []record.Trial
		synctest.Test(t, func(t *testing.T) {
			var err error
			if trials, err = play(t.Context(), t, s, plan.Options{}); err != nil {
				t.Fatal(err)
			}
		})
		for _, kept := range [][]record.Trial{trials, trials[:1]} {
			checkSchema(t, schema, s, kept)
		}
		failed := trials[0]
		failed.Outcome, failed.Error = record.Failed, "no page"
		failed.Searches, failed.Bystanders = nil, nil
		checkSchema(t, schema, s, []record.Trial{failed})
	}
}

func checkSchema(t *testing.T, schema *jsonschema.Schema, s scenario.Scenario, trials []record.Trial) {
	t.Helper()
	result := record.Result{Manifest: record.Manifest{Scenario: s, Plan: plan.New(s, plan.Options{})}, Trials: trials}
	a := analysis.Analyse(result)
	text, err := report.JSON(a)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(instance); err != nil {
		t.Errorf("%s with %d trials: %v", s.Name, len(trials), err)
	}
	for _, c := range a.Cells {
		w := c.Wasted
		if w.Mean == nil {
			continue
		}
		if sum := *w.Sleep + *w.Slot + *w.Network + *w.Server; math.Abs(sum-*w.Mean) > 1e-9 {
			t.Errorf("%s: %s over %s: the parts sum to %v, not to %v", s.Name, c.Strategy, c.Protocol, sum, *w.Mean)
		}
	}
}
