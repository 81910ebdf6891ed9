package browser

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"pollbench/bench/scenario"
)

// A panel asks for the dashboard's index, for as many hits as it is to bring, and for its delay.
func TestQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked struct {
			Params struct {
				Index string
				Body  struct {
					Size int
					Aggs struct {
						Wait struct {
							Delay struct{ Value string } `json:"shard_delay"`
						}
					}
				}
			}
		}
		load(t, opened(t, scenario.H2, func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			answered(w, false)
		}), 1)
		if p := asked.Params; p.Index != "any" || p.Body.Size != 8 || p.Body.Aggs.Wait.Delay.Value != "1s" {
			t.Errorf("asked %+v", p)
		}
	})
}
