package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pollbench/fixtures/node"
)

// composed is the containers of docker-compose.yml, under a name of their own and on ports that were free.
type composed struct {
	served
	project string
	env     []string
}

// needImage skips a test for which an image is missing, unless POLLBENCH_REQUIRE names docker.
func needImage(t *testing.T, image, how string) {
	t.Helper()
	need(t, "docker")
	for _, c := range []struct {
		ask []string
		how string
	}{
		{[]string{"version"}, node.StartDocker},
		{[]string{"image", "inspect", image}, how},
	} {
		if text, err := exec.Command("docker", c.ask...).CombinedOutput(); err != nil {
			unmet(t, "docker", fmt.Errorf("docker %s: %w: %s; %s", strings.Join(c.ask, " "), err, bytes.TrimSpace(text), c.how))
		}
	}
}

// compose runs the script that make up and make down run.
func (c *composed) compose(command string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd := exec.Command("../../.ci/compose", command)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// compose of an image of Elasticsearch, with further settings; what was started is removed if the test fails.
func compose(t *testing.T, image string, settings ...string) *composed {
	t.Helper()
	if err := noCompose(); err != nil {
		unmet(t, "docker", err)
	}
	c := &composed{project: fmt.Sprintf("pollbench-test-%d", os.Getpid())}
	c.env = append(os.Environ(), "COMPOSE_PROJECT_NAME="+c.project, "ES_IMAGE="+image, "ES_PORT=0", "DASHBOARD_PORT=0", "EDGE_PORT=0")
	c.env = append(c.env, settings...)
	t.Cleanup(func() {
		if t.Failed() { // else the test has done so
			_, _, _ = c.compose("down")
		}
	})
	return c
}

// up starts the containers and reads where they are.
func (c *composed) up(t *testing.T) {
	t.Helper()
	stdout, stderr, err := c.compose("up")
	if err != nil {
		t.Fatalf("compose up: %v: %s%s", err, stdout, stderr)
	}
	c.first = stdout
	for what, to := range map[string]*string{
		"Elasticsearch ": &c.Elasticsearch, "dashboard server ": &c.Dashboard, "edge (h2 only) ": &c.Edge, "CA certificates ": &c.CAFile,
	} {
		for line := range strings.Lines(c.first) {
			if rest, ok := strings.CutPrefix(line, what); ok {
				*to = strings.TrimSpace(rest)
			}
		}
		if *to == "" {
			t.Fatalf("no %s in %s", what, c.first)
		}
	}
	if at, err := filepath.Abs(c.certificates()); err != nil || c.CAFile != at {
		t.Errorf("certificates are in %s, want %s: %v", c.CAFile, at, err)
	}
}

// certificates is where 'make up' puts those of the servers.
func (c *composed) certificates() string { return "../../results/" + c.project + "-ca.pem" }

// down removes all of it.
func (c *composed) down(t *testing.T) {
	t.Helper()
	if stdout, stderr, err := c.compose("down"); err != nil {
		t.Fatalf("compose down: %v: %s%s", err, stdout, stderr)
	}
	c.nothingLeft(t)
}

// A search goes through containers of each server, the dashboard server in front of a real Elasticsearch or of the embedded one.
func TestCompose(t *testing.T) {
	needImage(t, embeddedImage, "make image")
	for _, path := range []string{"../../docker-compose.yml", "../../.ci/compose"} {
		if _, err := os.ReadFile(path); err != nil { // go test remembers that it passed, until something changes that it has read itself
			t.Fatal(err)
		}
	}
	for _, elasticsearch := range []struct{ image, how string }{
		{embeddedImage, "make image"},
		{nodeImage, "make node-image"},
	} {
		t.Run(elasticsearch.image, func(t *testing.T) {
			needImage(t, elasticsearch.image, elasticsearch.how)
			c := compose(t, elasticsearch.image)
			c.up(t)
			c.hold(t)
			for _, hop := range []struct{ protocol, url string }{{"HTTP/2.0", c.Edge}, {"HTTP/2.0", c.Dashboard}, {"HTTP/1.1", c.Dashboard}} {
				c.search(t, hop.protocol, hop.url)
			}
			c.measured(t, c.Dashboard)
			c.measured(t, c.Edge, "--protocols", "h2")
			c.restrained(t)
			c.ends(t, "edge")
			c.ends(t, "dashboard")
			if elasticsearch.image == embeddedImage {
				c.ends(t, "elasticsearch")
			}
			c.down(t)
		})
	}
}

// A port that somebody else has is named, with the setting that chooses another; what has started by then goes with 'make down'.
func TestComposePortTaken(t *testing.T) {
	needImage(t, embeddedImage, "make image")
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	c := compose(t, embeddedImage, "ES_PORT="+port)
	_, stderr, err := c.compose("up")
	if want := "port " + port + " of 127.0.0.1 is taken: end what listens there, or choose another one by ES_PORT"; err == nil || !strings.Contains(stderr, want) {
		t.Errorf("%v, no %q in %s", err, want, stderr)
	}
	c.down(t)
}

// Compose reads the whole file, and also the profile of Elastic's images, which are not here.
func TestComposeReadsKibana(t *testing.T) {
	t.Setenv("ES_IMAGE", "")
	if err := noCompose(); err != nil {
		unmet(t, "docker", err)
	}
	program := []string{"docker", "compose"}
	if exec.Command("docker", "compose", "version").Run() != nil {
		program = []string{"docker-compose"}
	}
	cmd := exec.Command(program[0], append(program[1:], "--file", "../../docker-compose.yml", "--profile", "kibana", "config")...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{"image: kibana:8.19.0", "image: elasticsearch:8.19.0", "image: pollbench/node:latest"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// hold asks each server as its health command does. The file of CA certificates is good for both.
func (c *composed) hold(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{c.Elasticsearch}, {c.Dashboard + "/api/status", "--ca-file", c.CAFile}, {c.Edge + "/api/status", "--ca-file", c.CAFile},
	} {
		if code, stdout, stderr := call(t, append([]string{"health"}, args...)...); code != exitDone {
			t.Errorf("health %v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}

// search submits a search, and waits for it with a long poll.
func (c *composed) search(t *testing.T, protocol, server string) {
	t.Helper()
	client := c.client(t, protocol)
	defer client.CloseIdleConnections()
	delay := time.Second
	began := time.Now()
	id := submit(t, client, server, delay.String())
	submitted := time.Since(began)
	for submitted >= delay && delay < 20*time.Second { // on a machine so busy it says nothing
		delay *= 4
		began = time.Now()
		id = submit(t, client, server, delay.String())
		submitted = time.Since(began)
	}
	status, spoken, answer := ask(t, client, "POST", server+"/internal/search/ese/"+url.PathEscape(id),
		`{"params":{"wait_for_completion_timeout":"30s"},"retrieveResults":true,"stream":true}`)
	took := time.Since(began)
	var result struct {
		Running  bool `json:"is_running"`
		Response struct {
			Hits struct{ Total struct{ Value int } }
		}
	}
	err := json.Unmarshal([]byte(answer), &result)
	if err != nil || status != http.StatusOK || spoken != protocol || result.Running || result.Response.Hits.Total.Value != 10_000 || submitted >= delay || took < delay {
		t.Errorf("%s over %s: status %d over %s, submitted after %v, ended after %v: %s, %v", server, protocol, status, spoken, submitted, took, answer, err)
	}
}

// measured plays a scenario against a server, as whoever has done 'make up' is told to.
func (c *composed) measured(t *testing.T, server string, args ...string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	args = append([]string{"run", write(t, short), "--dashboard", server, "--ca-file", c.CAFile, "--out", dir}, args...)
	code, stdout, stderr := call(t, args...)
	if code != exitDone || !strings.Contains(stdout, "loads finished") || strings.Contains(stdout, "failed and do not count") {
		t.Errorf("run --dashboard %s: exit %d, %s%s", server, code, stdout, stderr)
		return
	}
	if m := manifestIn(t, dir); m.Backend.Kind != "dashboard" || !m.Backend.ShardDelay {
		t.Errorf("%+v", m.Backend)
	}
}

// restrained says that each container is ours, limited, and reached from this machine alone.
func (c *composed) restrained(t *testing.T) {
	t.Helper()
	ids := docker(t, "ps", "--quiet", "--filter", "label=com.docker.compose.project="+c.project)
	if len(ids) != 3 {
		t.Fatalf("containers %v, want 3", ids)
	}
	for _, id := range ids {
		is := docker(t, "inspect", "--format",
			`{{index .Config.Labels "pollbench"}} {{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}{{range .NetworkSettings.Ports}}{{range .}} {{.HostIp}}{{end}}{{end}}`, id)
		if len(is) != 4 || is[0] != "true" || is[1] == "0" || is[2] == "0" || is[3] != "127.0.0.1" {
			t.Errorf("label, memory, CPUs and addresses: %v", is)
		}
		may := docker(t, "inspect", "--format",
			`{{index .Config.Labels "com.docker.compose.service"}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}`, id)
		if may[0] != "elasticsearch" && !slices.Equal(may[1:], []string{"true", "[ALL]", "[no-new-privileges:true]"}) { // that one writes its indices, and may be anybody's image
			t.Errorf("read-only, capabilities dropped, security: %v", may)
		}
	}
	for _, kind := range []string{"network", "volume"} {
		if named := docker(t, kind, "ls", "--quiet", "--filter", "label=com.docker.compose.project="+c.project, "--filter", "label=pollbench=true"); len(named) != 1 {
			t.Errorf("%ss of ours: %v, want 1", kind, named)
		}
	}
}

// ends stops the container of a service of ours.
func (c *composed) ends(t *testing.T, service string) {
	t.Helper()
	id := docker(t, "ps", "--quiet", "--filter", "label=com.docker.compose.project="+c.project, "--filter", "label=com.docker.compose.service="+service)
	if len(id) != 1 {
		t.Fatalf("%s: %v", service, id)
	}
	endsWell(t, id[0])
}

func (c *composed) nothingLeft(t *testing.T) {
	t.Helper()
	for _, kind := range [][]string{{"ps", "--all"}, {"network", "ls"}, {"volume", "ls"}} {
		if left := docker(t, append(kind, "--quiet", "--filter", "label=com.docker.compose.project="+c.project)...); len(left) > 0 {
			t.Errorf("docker %v: left behind: %v", kind, left)
		}
	}
	if _, err := os.Stat(c.certificates()); err == nil {
		t.Errorf("left behind: %s", c.certificates())
	}
}
