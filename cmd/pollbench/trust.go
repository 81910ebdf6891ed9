package main

import (
	"crypto/x509"
	"fmt"
	"os"
)

// readCA reads the certificates to trust from a PEM file that a flag names.
func readCA(flag, path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read CA certificate: %w (name the file with %s)", err, flag)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read CA certificate: there is none in %s: %s takes a PEM file, such as serve writes with --ca-file", path, flag)
	}
	return roots, nil
}
