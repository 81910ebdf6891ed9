package scenario

import (
	"errors"
	"strings"
	"testing"

	"pollbench/bench/clock"
)

func TestWrongDistribution(t *testing.T) {
	const limits = "a delay is over 0 and at most 600s"
	for name, c := range map[string]struct {
		delay string // on line 2, from column 40 on
		want  []string
	}{
		"two":          {"{sweep: 1s, lognormal: {p50: 1s, p95: 2s}}", []string{`2:40: delay: sweep and lognormal exclude each other: keep one`}},
		"unknown":      {"{uniform: 1s}", []string{`2:40: delay: give it one of sweep, lognormal, empirical, mix`, `2:41: unknown field "uniform": valid are sweep, lognormal, empirical, mix`}},
		"no quantiles": {"{lognormal: {}}", []string{`2:52: lognormal lacks the field "p50"`, `2:52: lognormal lacks the field "p95"`}},
		"no mapping":   {"{lognormal: 2s}", []string{`2:52: lognormal: the text "2s" where a mapping with the fields p50, p95 belongs`}},
		"zero":         {"{lognormal: {p50: 0s, p95: 601s}}", []string{`2:58: group "panels" has a p50 of 0s: ` + limits, `2:67: group "panels" has a p95 of 10m1s: ` + limits}},
		"backwards":    {"{lognormal: {p50: 2s, p95: 2s}}", []string{`2:67: group "panels" has a p95 of 2s and a p50 of 2s: give it a p95 over the p50`}},
		"empty mix":    {"{mix: []}", []string{`2:46: mix: an empty list: give it shares such as {weight: 7, delay: 500ms}`}},
		"no list":      {"{mix: 1s}", []string{`2:46: mix: the text "1s" where a list such as [{weight: 7, delay: 500ms}, {weight: 3, delay: 4s}] belongs`}},
		"empty share":  {"{mix: [{}]}", []string{`2:47: mix[0] lacks the field "weight"`, `2:47: mix[0] lacks the field "delay"`}},
		"weights": {"{mix: [{weight: 0, delay: 1s}, {weight: -1, delay: 1s}, {weight: 1000001, delay: 1s}, {weight: .inf, delay: 1s}]}", []string{
			`2:56: group "panels" has a weight of 0: take over 0 to 1000000`,
			`2:80: group "panels" has a weight of -1: take over 0 to 1000000`,
			`2:105: group "panels" has a weight of 1.000001e+06: take over 0 to 1000000`,
			`2:135: weight: the number .inf where a decimal number belongs`}},
		"shares": {"{mix: [{weight: 1, delay: 0s}, {weight: 1, delay: {lognormal: {p50: 3s, p95: 2s}}}, {weight: 1, delay: {sweep: 1s}}]}", []string{
			`2:66: group "panels" has a delay of 0s: ` + limits,
			`2:117: group "panels" has a p95 of 2s and a p50 of 3s: give it a p95 over the p50`,
			`2:143: delay: give it one of lognormal, empirical`,
			`2:144: unknown field "sweep": valid are lognormal, empirical`}},
		"mix in a mix": {"{mix: [{weight: 1, delay: {mix: []}}]}", []string{
			`2:66: delay: give it one of lognormal, empirical`, `2:67: unknown field "mix": valid are lognormal, empirical`}},
		"no such file": {"{empirical: none.csv}", []string{`2:52: empirical: "none.csv" cannot be read: file does not exist`}},
		"absolute":     {"{empirical: /etc/delays.csv}", []string{`2:52: empirical: "/etc/delays.csv" is not a file beside the scenario's or below: no absolute path, no ".."`}},
		"upwards":      {"{empirical: lab/../../delays.csv}", []string{`2:52: empirical: "lab/../../delays.csv" is not a file beside the scenario's or below: no absolute path, no ".."`}},
		"not a name":   {"{empirical: [1s]}", []string{`2:52: empirical: a list where a text belongs`}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, strings.Replace(head, "1s", c.delay, 1), c.want...) })
	}
}

var fromFile = strings.Replace(head, "1s", "{empirical: d.csv}", 1)

func TestMeasuredDelays(t *testing.T) {
	for file, want := range map[string][]float64{
		"1.5s\n300ms\n":    {1.5, 0.3},
		"\ufeff1.5\n2":     {1.5, 2},
		"1.5":              {1.5},
		"0.25\n600\n1e1\n": {0.25, 600, 10},
		"\ufeffdelay,query\r\n\r\n2s,\"a,b\"\r\n":            {2},
		"# measured in May\n\n  \nseconds\n 1 \n#2\n\"3\"\n": {1, 3},
		"1s\n1s\n": {1, 1}, // as often as measured
		// A second column of numbers, which a heading, a unit or a decimal point shows to be one.
		"delay,hits\n1,5\n2,7\n": {1, 2},
		"1s,5\n2.5,7\n":          {1, 2.5},
		"1,a\n2, 7\n":            {1, 2},
	} {
		s, err := Decode("f", []byte(fromFile), func(name string) ([]byte, error) {
			equal(t, name, "d.csv")
			return []byte(file), nil
		})
		if err != nil {
			t.Errorf("%q: %v", file, err)
			continue
		}
		var delays []clock.Seconds
		for _, n := range want {
			delays = append(delays, seconds(n))
		}
		equal(t, s.Groups[0].Distribution, &Distribution{Empirical: delays})
	}
}

func TestWrongMeasuredDelays(t *testing.T) {
	const limits = ": a delay is over 0 and at most 600s"
	for name, c := range map[string]struct {
		file string
		want []string // after the file's name
	}{
		"empty":        {"", []string{`holds no delay: give it one a line, such as 1.5s`}},
		"heading only": {"delay\n\n# none\n", []string{`holds no delay: give it one a line, such as 1.5s`}},
		"UTF-16":       {"\xff\xfe1\x00s\x00\n\x00", []string{`is not UTF-8: save the file as UTF-8`}},
		"UTF-16, bare": {"1\x00s\x00\n\x00", []string{`is not UTF-8: save the file as UTF-8`}},
		"Latin-1":      {"d\xe9lai\n1s\n", []string{`is not UTF-8: save the file as UTF-8`}},
		"decimal commas": {"delay\n1,5\n2,25s\n3\n", []string{
			`line 2: "1,5" may be one number or two: write 1.5, or give the columns a heading`,
			`line 3: "2,25s" may be one number or two: write 2.25s, or give the columns a heading`}},
		"decimal comma before a column": {"delay,query\n1,5,a\n", []string{
			`line 2: "1,5" may be one number or two: write 1.5, or give the columns a heading`}},
		"values": {"delay\n0\n-1s\n601\nx\n", []string{
			`line 2: "0"` + limits, `line 3: "-1s"` + limits, `line 4: "601"` + limits, `line 5: "x" is not a duration: write 10s or 500ms`}},
		"no heading":   {"1.5 s\n1s\n", []string{`line 1: "1.5 s" is not a duration: write 10s or 500ms`}},
		"semicolons":   {"delay;query\n1,5;a\n", []string{`line 1: "delay;query" is not a duration: write 10s or 500ms`}},
		"not finite":   {"1\nnan\ninf\n", []string{`line 2: "nan"` + limits, `line 3: "inf"` + limits}},
		"rounds to 0":  {"0.0000000001\n", []string{`line 1: "0.0000000001"` + limits}},
		"empty column": {"1\n,2\n", []string{`line 2: "" is not a duration: write 10s or 500ms`}},
		"open quote":   {"1\n2\n\"3\n4\n", []string{`line 4: extraneous or missing " in quoted-field`}},
		"many wrong": {strings.Repeat("0\n", 9), []string{
			`line 1: "0"` + limits, `line 2: "0"` + limits, `line 3: "0"` + limits, `line 4: "0"` + limits, `line 5: "0"` + limits, `has 4 more lines that are wrong`}},
		"many": {strings.Repeat("1\n", 100_001), []string{`line 100001: more than 100000 delays: take a sample of them`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode("f", []byte(fromFile), func(string) ([]byte, error) { return []byte(c.file), nil })
			if err == nil {
				t.Fatal("accepted")
			}
			equal(t, strings.Split(err.Error(), "\n"), prefixed(`f:2:52: empirical: "d.csv" `, c.want))
		})
	}
	if _, err := Decode("f", []byte(fromFile), func(string) ([]byte, error) { return []byte(strings.Repeat("1\n", 100_000)), nil }); err != nil {
		t.Error(err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	_, err := Decode("f", []byte(fromFile), nil)
	equal(t, err.Error(), `f:2:52: empirical: "d.csv" cannot be read: a scenario that does not come from a file has none beside it`)
	_, err = Decode("f", []byte(fromFile), func(string) ([]byte, error) { return nil, errors.New("larger\nthan 4 MiB") })
	equal(t, err.Error(), `f:2:52: empirical: "d.csv" cannot be read: larger than 4 MiB`)
}

func TestWrongFault(t *testing.T) {
	const kinds = "valid are failure, too_many_requests, unavailable, cut, truncated, malformed, slow"
	for name, c := range map[string]struct {
		fault string // on line 2, from column 51 on
		want  []string
	}{
		"unknown": {"unavailble", []string{`2:51: fault: unknown fault "unavailble": did you mean "unavailable"? ` + kinds}},
		"number":  {"503", []string{`2:51: fault: the number 503 where a kind of fault such as unavailable belongs`}},
		"no kind": {"{on: [1]}", []string{`2:51: fault lacks the field "kind"`}},
		"bad kind": {"{kind: down, over: 1h, failed: 1}", []string{`2:58: kind: unknown fault "down": ` + kinds, `2:70: group "panels": over 1h0m0s: take over 0s to 600s`,
			`2:82: group "panels": failed and of belong together, as in {failed: 1, of: 3}`}},
		"ordinals": {"{kind: cut, on: [0, 1000, -1, 1001, 0, x]}", []string{
			`2:77: group "panels": on -1: take 0 to 1000`, `2:81: group "panels": on 1001: take 0 to 1000`, `2:87: group "panels": on 0 is there twice: remove one`,
			`2:90: on[5]: the text "x" where a whole number belongs`}},
		"no ordinals": {"{kind: cut, on: []}", []string{`2:67: on is empty: name a request, such as 1 for the first poll, or leave the field out`}},
		"no other's": {"{kind: failure, on: [2], retry_after: 1s, over: 2s}", []string{
			`2:71: group "panels": the fault failure knows no "on": remove it`,
			`2:89: group "panels": the fault failure knows no "retry_after": remove it`,
			`2:99: group "panels": the fault failure knows no "over": remove it`}},
		"the default of others": {"{kind: failure, on: [1], over: 1s}", []string{
			`2:71: group "panels": the fault failure knows no "on": remove it`, `2:82: group "panels": the fault failure knows no "over": remove it`}},
		"over of another": {"{kind: cut, over: 1s}", []string{`2:69: group "panels": the fault cut knows no "over": remove it`}},
		"shards of another": {"{kind: cut, failed: 1, of: 2}", []string{
			`2:71: group "panels": the fault cut knows no "failed": remove it`, `2:78: group "panels": the fault cut knows no "of": remove it`}},
		"part of a second":  {"{kind: unavailable, retry_after: 1500ms}", []string{`2:84: group "panels": retry_after 1.5s: take 1s to 600s, in whole seconds`}},
		"late retry":        {"{kind: too_many_requests, retry_after: 601s}", []string{`2:90: group "panels": retry_after 10m1s: take 1s to 600s, in whole seconds`}},
		"retry at 0":        {"{kind: too_many_requests, retry_after: 0s}", []string{`2:90: retry_after: 0s is not over 0: give more, or leave the field out`}},
		"shards without of": {"{kind: failure, failed: 1}", []string{`2:75: group "panels": failed and of belong together, as in {failed: 1, of: 3}`}},
		"of without shards": {"{kind: failure, of: 3}", []string{`2:71: group "panels": failed and of belong together, as in {failed: 1, of: 3}`}},
		"more than all":     {"{kind: failure, failed: 4, of: 3}", []string{`2:75: group "panels": failed 4 of 3 shards: take at most all`}},
		"many shards":       {"{kind: failure, failed: 1, of: 1001}", []string{`2:82: group "panels": of 1001 shards: take at most 1000`}},
		"no shards": {"{kind: failure, failed: 0, of: -1}", []string{
			`2:75: failed: the number 0 where a whole number over 0 belongs`, `2:82: of: the number -1 where a whole number over 0 belongs`}},
	} {
		t.Run(name, func(t *testing.T) { complains(t, strings.Replace(head, "1s", "1s, fault: "+c.fault, 1), c.want...) })
	}
}
