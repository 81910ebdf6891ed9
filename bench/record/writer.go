package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Names of the files in a result folder.
const (
	ManifestFile     = "manifest.json"
	ObservationsFile = "observations.ndjson"
	AnalysisFile     = "analysis.json"
)

// ErrNotEmpty says that a folder has something in it, so that no result is written there.
var ErrNotEmpty = errors.New("folder is not empty: name another one, or remove what is in it")

// Writer adds observations to a result folder. Its methods may be called from several goroutines.
type Writer struct {
	dir  string
	mu   sync.Mutex
	file *os.File
}

// Prepare makes the folder, or takes an empty one, and sees whether it can be written to.
func Prepare(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("write result to %s: %w", dir, ErrNotEmpty)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write result: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Create prepares the folder and writes the manifest into it.
func Create(dir string, m Manifest) (*Writer, error) {
	if err := Prepare(dir); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	if err := writeFile(filepath.Join(dir, ManifestFile), append(text, '\n')); err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, ObservationsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write observations: %w", err)
	}
	return &Writer{dir: dir, file: file}, nil
}

// Append writes one observation.
func (w *Writer) Append(t Trial) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("write observation of trial %d: %w", t.Trial, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write observation of trial %d: %w", t.Trial, err)
	}
	return nil
}

// Close ends the writing; after it the observations are on disk.
func (w *Writer) Close() error {
	return errors.Join(w.file.Sync(), w.file.Close())
}

// WriteAnalysis puts the analysis, or a newer one, into the folder. An old one stays whole until the new one is.
func WriteAnalysis(dir string, text []byte) error {
	if err := writeFile(filepath.Join(dir, AnalysisFile), text); err != nil {
		return fmt.Errorf("write analysis: %w", err)
	}
	return nil
}

// writeFile writes the whole file or none of it, and has it on disk when it returns.
func writeFile(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
