package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// targetOf reads flags as the run command does.
func targetOf(t *testing.T, env map[string]string, args ...string) (*target, error) {
	t.Helper()
	var flags targetFlags
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	flags.add(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags.check(f.Changed, func(name string) string { return env[name] }, nil)
}

// Everything that is wrong about servers is told at once, with the way out, before anything starts; and no secret is in it.
func TestWrongTargets(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := map[string]string{apiKeyVariable: "c2VjcmV0"}
	for _, c := range []struct {
		args string
		env  map[string]string
		want []string
	}{
		{"--backend cloud", nil, []string{`--backend "cloud": choose embedded, node or container`}},
		{"--image x", nil, []string{"--image goes only with --backend container"}},
		{"--node-home x --backend container", nil, []string{"--node-home goes only with --backend node"}},
		{"--index x", nil, []string{"--index goes only with --elasticsearch or --dashboard"}},
		{"--elasticsearch http://127.0.0.1 --index=", nil, []string{"--index: the name is empty"}},
		{"--max-searches 5", nil, []string{"--max-searches goes only with"}},
		{"--backend node --elasticsearch http://127.0.0.1:9200", nil, []string{"--backend goes only without --elasticsearch"}},
		{"--elasticsearch 127.0.0.1:9200", nil, []string{"--elasticsearch: not a URL of the form http://HOST:PORT or https://HOST:PORT"}},
		{"--elasticsearch ftp://127.0.0.1", nil, []string{"--elasticsearch: not a URL of the form http://HOST:PORT or https://HOST:PORT"}},
		{"--elasticsearch http://127.0.0.1:9200/?a=b", nil, []string{"has a query or a fragment"}},
		{"--elasticsearch https://me:secret@127.0.0.1", nil, []string{"holds a user or a password", apiKeyVariable, passwordVariable}},
		{"--elasticsearch https://es.example", nil, []string{"https://es.example: that is another machine: say --allow-remote"}},
		{"--elasticsearch http://es.example --allow-remote", key, []string{"credentials would go there for everybody to read: take https"}},
		{"--elasticsearch=", nil, []string{"--elasticsearch: the address is empty"}},
		{"--dashboard=", nil, []string{"--dashboard: the address is empty"}},
		{"--elasticsearch http://127.0.0.1:99999", nil, []string{`--elasticsearch: its port is "99999": one is from 1 to 65535`}},
		{"--dashboard https://[::2]", nil, []string{"another machine"}},
		{"--dashboard https://127.0.0.1 --delay-by gate", nil, []string{"a gate stands before Elasticsearch"}},
		{"--delay-by me", nil, []string{`--delay-by "me": choose server or gate`}},
		{"--elasticsearch http://127.0.0.1 --max-searches 0", nil, []string{"--max-searches 0: take 1 or more"}},
		{"--elasticsearch https://es.example --allow-remote --max-rate 0", nil, []string{"--max-rate 0: take more than 0"}},
		{"--max-rate 5", nil, []string{"--max-rate goes only with servers on other machines"}},
		{"--elasticsearch http://127.0.0.1 --ca-file nowhere.pem", nil, []string{"--ca-file: open nowhere.pem"}},
		{"--elasticsearch http://127.0.0.1 --ca-file " + empty, nil, []string{"no certificate in it"}},
		{"--elasticsearch http://127.0.0.1", map[string]string{apiKeyVariable: "secret", userVariable: "me"}, []string{"both " + apiKeyVariable + " and " + userVariable}},
		{"--elasticsearch http://127.0.0.1", map[string]string{userVariable: "secret"}, []string{"and no " + passwordVariable}},
		{"--elasticsearch http://127.0.0.1", map[string]string{apiKeyVariable: "secret\n"}, []string{"is no API key"}},
		{"--dashboard https://me:secret@127.0.0.1 --delay-by gate", nil, []string{"holds a user or a password", "a gate stands before Elasticsearch"}},
		{"--elasticsearch http://127.0.0.1", map[string]string{passwordVariable: "secret"}, []string{"and no " + userVariable}},
		{"--backend cloud --delay-by me", nil, []string{"cloud", "--delay-by"}},
	} {
		_, err := targetOf(t, c.env, strings.Fields(c.args)...)
		if err == nil || exitCode(err) != exitUsage {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in %v", c.args, want, err)
			}
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%s: a secret is told: %v", c.args, err)
		}
	}
}

func TestTargets(t *testing.T) {
	target, err := targetOf(t, nil)
	if err != nil || target.Begin != nil || target.Kind != "embedded" || target.remote != "" {
		t.Errorf("%+v, %v", target, err)
	}
	target, err = targetOf(t, map[string]string{userVariable: "me", passwordVariable: "secret"}, "--elasticsearch", "https://localhost:9200/es/")
	if err != nil || target.Kind != "elasticsearch" || target.Elasticsearch.URL != "https://localhost:9200/es" || target.remote != "" ||
		target.Elasticsearch.Authorization != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:secret")) {
		t.Errorf("%+v, %v", target, err)
	}
	target, err = targetOf(t, map[string]string{apiKeyVariable: "a2V5"}, "--dashboard", "https://kibana.example", "--allow-remote")
	if err != nil || target.Kind != "dashboard" || target.Dashboard.Authorization != "ApiKey a2V5" || target.remote != "kibana.example" || target.AtOnce != remoteSearches {
		t.Errorf("%+v, %v", target, err)
	}
	if got := target.named("https://kibana.example"); got != "URL" {
		t.Errorf("a result names another machine: %s", got)
	}
	if got := target.named("https://127.0.0.1:5601"); got != "https://127.0.0.1:5601" {
		t.Errorf("this machine is called %s", got)
	}
	target, err = targetOf(t, nil, "--backend", "node")
	if err != nil || target.Begin == nil || target.Kind != "node" {
		t.Errorf("%+v, %v", target, err)
	}
}
