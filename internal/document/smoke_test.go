package document
import ("testing";"context";"fmt";"hawser.dev/hawser/internal/fleet")
func TestSmoke(t *testing.T){
 p, fs := Load(context.Background(), Options{Files: []string{"/tmp/b.cue"}, Fleet: []string{"/tmp/r.cue"}})
 for _, f := range fs { fmt.Println(f) }
 for _, c := range fleet.Clusters(p.Fleet()) {
  f := c.Facts(fleet.RuntimeValues(nil,nil,c))
  fmt.Println(p.Value(f))
 }
}
