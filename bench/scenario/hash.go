package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hash identifies what is measured: SHA-256, in hexadecimal, of the scenario's JSON, which has one form: the fields in the
// order of the type, seconds without trailing zeros. How the file was written, and whether it spelled out a default, does not matter.
func (s Scenario) Hash() string {
	canonical, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("marshal scenario %s: %v", s.Name, err)) // numbers, texts and lists of them: there is nothing that can fail
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
