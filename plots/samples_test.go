package plots

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"pollbench/bench/analysis"
)

// A chart is judged by eye: go test ./plots -run Samples -out DIR
var out = flag.String("out", "", "folder to keep the rendered charts in")

// samples are results of every kind with all that can be drawn from them.
func samples(t *testing.T) map[string][]Chart {
	t.Helper()
	all := map[string][]Chart{}
	draw := func(kind string, a analysis.Analysis, curves []analysis.Curve, falls ...analysis.Waterfall) {
		charts, err := Charts(a, curves, falls)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		all[kind] = charts
	}
	draw("whole", whole(), curvesOf(both, 23), fallOf("traditional", "http1", 8, 10), fallOf("continuous", "h2", 8, 10))
	draw("dense", dense(), curvesOf(both, 23))
	draw("vice", viceResult(), nil, viceFall())
	many := whole()
	many.Scenario = "a scenario whose name takes more room than a line of a chart has, because somebody thought that it should say all that there is"
	many.Health.Healthy = false
	draw("many", crowd(many), curvesOf(both, 23), fallOf("traditional", "http1", 23, 100))
	return all
}

// crowd adds strategies until colours have to be used twice.
func crowd(a analysis.Analysis) analysis.Analysis {
	for i, s := range []string{"fallback", "kibana-8.5", "kibana-8.6", "no-backoff", "long-first-wait", "rally", "sync"} {
		for _, c := range a.Cells {
			if c.Strategy == "traditional" {
				c.Strategy = s
				c.Wasted.Mean = ptr(*c.Wasted.Mean*0.1*float64(i+1) + 0.1)
				c.Load.Interval = around(*c.Load.Median+0.3*float64(i), 0.2)
				c.Bystanders = &analysis.Bystanders{Latency: analysis.Tail{Interval: around(0.002*float64(i+1), 0.001)}}
				a.Cells = append(a.Cells, c)
			}
		}
	}
	return a
}

func TestSamples(t *testing.T) {
	dir := *out
	if dir == "" {
		dir = t.TempDir()
	}
	for kind, charts := range samples(t) {
		for _, c := range charts {
			for _, format := range Formats() {
				var first, second bytes.Buffer
				for _, b := range []*bytes.Buffer{&first, &second} {
					if err := Write(b, c, format); err != nil {
						t.Fatal(err)
					}
				}
				if !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Errorf("%s %s.%s: drawn twice, bytes differ", kind, c.Name, format)
				}
				if err := os.WriteFile(filepath.Join(dir, kind+"-"+c.Name+"."+format), first.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
