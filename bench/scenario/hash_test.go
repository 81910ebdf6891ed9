package scenario

import (
	"strings"
	"testing"
)

func TestHash(t *testing.T) {
	base := decode(t, head).Hash()
	// sha256sum of the JSON that TestDefaults' scenario has by the type's tags, written by hand:
	// {"name":"x","groups":[{"name":"panels","panels":4,"delay_s":1}],"payload_bytes":2048,"bystanders":{"every_s":0.5,"size_bytes":200},
	// "strategies":[{"name":"sync","sync":true,"submit_wait_s":0,"poll_wait_s":0}],"base":"sync","protocols":["http1","h2"],"repeats":7,
	// "seed":1,"browser":{"http1_connections":6,"h2_streams":256},"cold":false}
	equal(t, decode(t, head+"strategies: [sync]").Hash(), "7d3da67b5fe731e05ead3fa094a6bf0a129a928c1b4b3f7bdbb9a6dfa75d3d6e")
	equal(t, decode(t, "# other words\n"+head+"repeats: 7\nstrategies:\n- traditional\n- continuous\n").Hash(), base)
	if decode(t, head+"seed: 2").Hash() == base {
		t.Error("another seed has the same hash")
	}
}

// What the file may leave out does not change what is measured when it is there.
func TestSpelledOutDefaultsHaveTheSameHash(t *testing.T) {
	failing := strings.Replace(head, "delay: 1s", "delay: 1s, fault: %", 1)
	fault := func(text string) string { return strings.Replace(failing, "%", text, 1) }
	for _, c := range []struct{ short, long string }{
		{head, head + "topology: direct\nnetwork: [perfect]\ntabs: {count: 1, every: 1s}\non_disconnect: cancel\n"},
		{head + "strategies: [{name: a, poll_wait: 1s}]\n", head + "strategies: [{name: a, poll_wait: 1s, retry: 0}]\n"},
		{fault("slow"), fault("{kind: slow, on: [1], over: 1s}")},
	} {
		equal(t, decode(t, c.long).Hash(), decode(t, c.short).Hash())
	}
	if decode(t, fault("slow")).Hash() == decode(t, head).Hash() {
		t.Error("a fault does not change the hash")
	}
}
