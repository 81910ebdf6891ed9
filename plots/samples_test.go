package plots

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
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
	add := func(kind string, a analysis.Analysis, p analysis.Pictures) {
		charts, err := Charts(a, p)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		all[kind] = charts
	}
	draw := func(kind string, a analysis.Analysis, curves []analysis.Curve, falls ...analysis.Waterfall) {
		add(kind, a, analysis.Pictures{Curves: curves, Waterfalls: falls})
	}
	draw("whole", whole(), curvesOf(both, 23), fallOf("traditional", "http1", 8, 10), fallOf("continuous", "h2", 8, 10))
	draw("dense", dense(), curvesOf(both, 23))
	draw("vice", viceResult(), nil, viceFall())
	many := whole()
	many.Scenario = "a scenario whose name takes more room than a line of a chart has, because somebody thought that it should say all that there is"
	many.Health.Healthy = false
	draw("many", crowd(many), curvesOf(both, 23), fallOf("traditional", "http1", 23, 100))
	draw("hops", through(viceResult(), "behind-a-proxy"), nil)
	draw("harm", harmed(), nil)
	for kind, p := range played() {
		p.Waterfalls = p.Waterfalls[:min(4, len(p.Waterfalls))] // more look alike
		add(kind, p.Analysis, p.Pictures)
	}
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

// through adds a second topology, as when a proxy stands between browser and server.
func through(a analysis.Analysis, topology string) analysis.Analysis {
	for _, c := range a.Cells {
		c.Topology = topology
		a.Cells = append(a.Cells, c)
	}
	for _, c := range a.Comparisons {
		c.Topology = topology
		a.Comparisons = append(a.Comparisons, c)
	}
	return a
}

// harmed is a short sweep on which continuous is sometimes slower than the base.
func harmed() analysis.Analysis {
	a := sweep("harm", []float64{0.5, 1, 1.5, 2}, both, 7)
	for i := range a.Comparisons {
		c := &a.Comparisons[i]
		for _, v := range []*float64{c.Speedup, c.Lo, c.Hi} {
			*v -= 0.12
		}
	}
	for i := range a.Summary {
		*a.Summary[i].Mean -= 0.12
	}
	return a
}

// TestSamples draws every kind of result as SVG, and as PNG too when the charts are to be kept: that takes long.
func TestSamples(t *testing.T) {
	for kind, charts := range samples(t) {
		for _, c := range charts {
			for _, format := range Formats() {
				if format == PNG && *out == "" {
					continue
				}
				b := written(t, c, format)
				if format == SVG {
					checkXML(t, b)
				}
				if *out == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(*out, kind+"-"+c.Name+"."+format), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func written(t *testing.T, c Chart, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func checkXML(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}
