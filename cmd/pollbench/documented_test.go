package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documentedTest is a command in a page, which may be broken over two lines where the text is.
var documentedTest = regexp.MustCompile("go test [^`#]*")

// What pages say to type, they say to type in the root: a test or benchmark must be there under the name, in the package, that the command gives.
func TestPagesNameTestsThatThereAre(t *testing.T) {
	const root = "../.."
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "results"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, command := range documentedTests(string(page)) {
			seen++
			checkDocumentedTest(t, root, path, strings.Fields(command))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("%d commands found", seen)
	}
}

// documentedTests are the commands of a page: a line that is indented, or what stands between two backticks.
func documentedTests(page string) (found []string) {
	var text strings.Builder
	for line := range strings.Lines(page) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			found = append(found, documentedTest.FindAllString(strings.TrimSpace(command), -1)...)
			continue
		}
		text.WriteString(line)
	}
	return append(found, documentedTest.FindAllString(text.String(), -1)...)
}

func checkDocumentedTest(t *testing.T, root, page string, command []string) {
	t.Helper()
	var sources string
	for _, word := range command {
		if strings.HasPrefix(word, "./") {
			files, err := filepath.Glob(filepath.Join(root, word, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range files {
				source, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				sources += string(source)
			}
		}
	}
	if sources == "" {
		t.Errorf("%s: %q names no package with tests", page, command)
	}
	kinds := map[string]string{"-run": "Test", "-bench": "Benchmark"}
	for i, word := range command[:len(command)-1] {
		kind, ok := kinds[word]
		if !ok {
			continue
		}
		for wanted := range strings.SplitSeq(strings.Trim(command[i+1], "'"), "|") {
			if wanted != "^$" && wanted != "." && !regexp.MustCompile(`func `+kind+`\w*`+strings.TrimPrefix(wanted, kind)).MatchString(sources) {
				t.Errorf("%s: %q: there is no %s %s in that package", page, command, kind, wanted)
			}
		}
	}
}
