package main

import (
	"crypto/x509"
	"fmt"
	"os"
)

// readCA reads the certificates to trust from the file that a flag names. No file means nil: those that the system trusts.
func readCA(flag, path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s %s: no certificate in it: it has to be PEM, with lines of BEGIN CERTIFICATE", flag, path)
	}
	return roots, nil
}
