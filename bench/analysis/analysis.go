// Package analysis turns a run's observations into what can be said of them: medians with their intervals, the split of wasted
// time, comparisons of strategies, each beside what the model expects.
//
// It is pure: the same result folder gives the same [Analysis], on any machine, years later. The trial is the statistical unit. Panels
// and polls of one load share their fate and are no sample; so what a load has many of is first reduced to one value per trial, and
// intervals and tests are over trials. Medians have 95 % confidence intervals from order statistics, and two strategies are compared
// by the Mann–Whitney test, both by golang.org/x/perf/benchmath and free of any assumption about distributions.
//
// Where delays are drawn, each repeat is another dashboard, the same for all strategies. Loads then differ by far more between dashboards than between
// strategies, and two samples of them would tell nothing. So two strategies are compared dashboard by dashboard: the interval is of the median
// of the paired ratios, by order statistics, and p is the sign test's, which is the same test turned round: the interval holds a speed-up of
// zero just when p is above 5 %. Wilcoxon's signed ranks would see more in few pairs, but take differences to be symmetrical, and what a backoff wastes is not.
// What a strategy gains over the whole mix is a ratio of sums, see [Mix].
package analysis

import "slices"

// Schema names the form of the document that [Analysis] marshals to.
const Schema = "pollbench/analysis/1"

// Analysis is the outcome of one run. All times are seconds; what cannot be given is nil, with a warning beside it.
type Analysis struct {
	Schema      string       `json:"schema"`
	Scenario    string       `json:"scenario"`
	Seed        uint64       `json:"seed"`
	Environment Environment  `json:"environment"`
	Health      Health       `json:"health"`
	Warnings    []string     `json:"warnings"`
	Wall        *float64     `json:"wall_s"`       // first intended start to last delivered
	IdealWall   float64      `json:"ideal_wall_s"` // longest single load by the model
	Cells       []Cell       `json:"cells"`
	Comparisons []Comparison `json:"comparisons"`
	Summary     []Summary    `json:"summary"`
}

// Needed numbers of trials: an interval at 95 % has none to be wrong by with fewer than 6, a p-value that survives Holm's correction
// over the 46 comparisons of the full matrix needs 7, and a quantile some values beyond it.
const (
	minInterval = 6
	minP        = 7
	minP95      = 20
	minP99      = 1000
)

// Interval is a median with its 95 % confidence interval.
type Interval struct {
	Median *float64 `json:"median"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
}

// Tail is an interval with the 95th percentile, which needs 20 values.
type Tail struct {
	Interval
	P95 *float64 `json:"p95"`
}

// Wasted is wasted time per search: its median and mean, and the mean of each of its parts, which sum to the mean.
type Wasted struct {
	Median  *float64 `json:"median"`
	Mean    *float64 `json:"mean"`
	Sleep   *float64 `json:"sleep"`
	Slot    *float64 `json:"slot"`
	Network *float64 `json:"network"`
	Server  *float64 `json:"server"`
}

// Cell is one variant at one delay.
type Cell struct {
	Delay             float64     `json:"delay_s"` // the longest of the cell's panels, which a single tab cannot beat; drawn: the median over the repeats
	Strategy          string      `json:"strategy"`
	Protocol          string      `json:"protocol"`
	Topology          string      `json:"topology"`
	Driver            string      `json:"driver"`
	Trials            int         `json:"trials"` // planned
	Finished          int         `json:"finished"`
	Failed            int         `json:"failed"` // any panel failed; not in the statistics
	Load              Tail        `json:"load_s"`
	Overhead          Interval    `json:"overhead_s"`
	Wasted            Wasted      `json:"wasted_s"`
	Groups            []Group     `json:"groups"`
	Tabs              []Tab       `json:"tabs"` // nil where the browser has a single one
	Outcomes          Outcomes    `json:"outcomes"`
	Bystanders        *Bystanders `json:"bystanders"`
	RequestsPerSearch *float64    `json:"requests_per_search"`
	Connections       *int        `json:"connections"` // most in one trial
	ProtocolSeen      *string     `json:"protocol_seen"`
	Model             Model       `json:"model"`
	Warnings          []string    `json:"warnings"`
}

// Group is one group of equal panels of a cell.
type Group struct {
	Name      string   `json:"name"`
	Delay     float64  `json:"delay_s"`     // drawn: the median of all panels of all repeats
	Drawn     bool     `json:"-"`           // from a distribution, for each panel; not in the document: the manifest has the scenario
	Panels    int      `json:"panels"`      // of one tab
	Delivered Interval `json:"delivered_s"` // each panel's time from its tab's intended start
	Wasted    Wasted   `json:"wasted_s"`
}

// Drawn tells whether the delay of any group is: then the cell's is a median too.
func (c Cell) Drawn() bool {
	return slices.ContainsFunc(c.Groups, func(g Group) bool { return g.Drawn })
}

// Tab is one of several dashboards of a browser, in the order in which they were opened. Its times count from its own intended start.
type Tab struct {
	Tab        int      `json:"tab"`    // the first is 1
	Load       Interval `json:"load_s"` // of the trials in which it was not hidden before it had loaded
	Wasted     Wasted   `json:"wasted_s"`
	Bystanders Interval `json:"bystander_latency_s"`
}

// Outcomes counts the searches of all trials, failed ones included, by what became of them; and the failed polls that were asked again. All
// searches of a page that could not be opened have failed.
type Outcomes struct {
	OK       int `json:"ok"`
	Failed   int `json:"failed"`
	TimedOut int `json:"timeout"`
	Hidden   int `json:"hidden"`
	Retries  int `json:"retries"`
}

// Bystanders are the page's small requests during the loads of a cell; latency counts from the intended start.
type Bystanders struct {
	Sent    int      `json:"sent"`
	Failed  int      `json:"failed"`
	Latency Tail     `json:"latency_s"`
	Slot    *float64 `json:"slot_s"` // mean
}

// Model is what the same strategy gives in virtual time. It knows round trips, proxies, tabs and drawn delays; where connections are cut, bandwidth
// is limited or answers fail on purpose it has no expectation, and its numbers are nil; so they are where it expects the load to fail. Of drawn delays they
// are medians over the finished repeats.
type Model struct {
	Load      *float64    `json:"load_s"`       // at zero latency
	LoadRTT   *float64    `json:"load_rtt_s"`   // with this run's own median round trip
	Wasted    ModelWasted `json:"wasted_s"`     // at zero latency
	WastedRTT ModelWasted `json:"wasted_rtt_s"` // with this run's own median round trip
	// Difference is by how much a trial's load exceeds what the model gives for its repeat at this run's own median round trip.
	Difference Interval `json:"difference_s"`
}

// ModelWasted is the model's wasted time per search.
type ModelWasted struct {
	Median *float64 `json:"median"`
	Mean   *float64 `json:"mean"`
}

// Comparison sets one strategy against the base in one cell, for the load or for one group of panels.
type Comparison struct {
	Delay    float64  `json:"delay_s"`
	Protocol string   `json:"protocol"`
	Topology string   `json:"topology"`
	Group    *string  `json:"group"` // nil: the load
	Base     string   `json:"base"`
	Other    string   `json:"other"`
	Speedup  *float64 `json:"speedup"` // 1 − other/base, of medians
	Lo       *float64 `json:"lo"`
	Hi       *float64 `json:"hi"`
	P        *float64 `json:"p"` // two-sided, of this comparison alone: Mann–Whitney's, or the sign test's where delays are drawn
	N        int      `json:"n"` // trials on the smaller side; pairs where delays are drawn
}

// Summary pools one strategy's comparisons over all delays of a protocol and topology.
type Summary struct {
	Protocol string       `json:"protocol"`
	Topology string       `json:"topology"`
	Base     string       `json:"base"`
	Other    string       `json:"other"`
	Mean     *float64     `json:"mean"` // of the loads' speed-ups
	Max      *float64     `json:"max"`
	MaxAt    *float64     `json:"max_at_s"`
	Wasted   PooledWasted `json:"wasted_s"` // of the other, all searches
	Mix      *Mix         `json:"mix"`      // nil where no delay is drawn
}

// Mix is what a strategy gains over a mix of dashboards whose delays are drawn: each repeat is another dashboard, the same for base and other. Gain
// is 1 − the other's load times / the base's, all repeats together; its 95 % interval comes from resampling the repeats, and needs 6 of them.
type Mix struct {
	Gain *float64 `json:"gain"`
	Lo   *float64 `json:"lo"`
	Hi   *float64 `json:"hi"`
	N    int      `json:"n"` // dashboards that both have loaded
}

// PooledWasted is wasted time over all searches of a strategy and protocol; p99 needs 1,000 of them.
type PooledWasted struct {
	Median *float64 `json:"median"`
	P99    *float64 `json:"p99"`
	N      int      `json:"n"`
}

// Activity is what the browser was doing for a panel at some time.
type Activity string

// Useful is the search's own execution; the others are the parts of wasted time. Server has a request under way on the dashboard server, a finished
// result that is held on to, and the time for which Elasticsearch had accepted the search and did not execute it, whatever the browser did meanwhile.
const (
	Useful  Activity = "useful"
	Sleep   Activity = "sleep"
	Slot    Activity = "slot"
	Network Activity = "network"
	Server  Activity = "server"
)

// Span is a stretch of one panel's time, in seconds from the load's intended start.
type Span struct {
	From, To float64
	Activity Activity
}

// Lane is one panel of a waterfall: its spans follow each other without a gap, from its tab's start to delivered. A hidden one has none.
type Lane struct {
	Tab   int // where there are several: the first is 1
	Group string
	Spans []Span
}

// Waterfall is one measured load, panel by panel.
type Waterfall struct {
	Strategy, Protocol, Topology string
	Delay                        float64
	Lanes                        []Lane
}

// Curve is the model's line of wasted time (mean per search) over the swept delay, at no latency but the network's.
type Curve struct {
	Strategy, Protocol, Topology string
	Delay, Wasted                []float64
}

// Loads are the load times of one variant over drawn dashboards, one for each that it has loaded, and how far each is above its ideal. Both
// are in ascending order.
type Loads struct {
	Strategy, Protocol, Topology string
	Load, Overhead               []float64
}

// Hop is what a browser has in front of it in a scenario: a protocol over a path, whose name is the topology of results.
type Hop struct {
	Protocol, Topology string
	Kind               string // the topology itself, without the network
	ServerProtocol     string // that the dashboard server is spoken to
	Network            string
	Perfect            bool    // network
	RTT                float64 // that the network adds between browser and Elasticsearch, in seconds
	OnlyRTT            bool    // nothing but that tells it from a perfect network
	Cuts               bool    // connections are cut
	OnlyCuts           bool    // they are, and no time limit and no fault that was asked for makes requests fail beside
}

// Pictures is what charts show beside the numbers of an analysis.
type Pictures struct {
	Curves     []Curve
	Waterfalls []Waterfall
	Loads      []Loads // none where no delay is drawn
	Hops       []Hop
	LastTab    float64  // start of the last tab after the load's, in seconds; 0 of a single one
	ByServer   []string // strategies that go by the protocol of the dashboard server, which need not be the browser's
}
