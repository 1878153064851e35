package cel

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// Bounds of one call. CEL's cost limit is asked after a call, when what it makes is there already: a few calls of replace,
// one in another, make gigabytes before that.
const (
	maxText     = 1 << 20   // bytes of a text that is made
	maxItems    = 100_000   // items of a list that is made
	maxWeight   = 1 << 20   // bytes and items of what is compared or searched
	maxFormat   = 128 << 10 // the same of what is formatted: numbers get longer
	maxSearch   = 64 << 20  // length of a text times that of what is looked for in it
	maxPattern  = 1000      // instructions of a regular expression
	unitsOfByte = 10        // bytes of what is read for one unit of cost
)

// stop ends the evaluation: an error would be swallowed by || and all().
func stop(format string, args ...any) {
	panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: fmt.Sprintf(format, args...)})
}

// weight is how many bytes of text, numbers and entries a value has, each as often as it is reached; not counted further than limit.
func weight(v ref.Val, limit int) int {
	switch t := v.(type) {
	case types.String:
		return len(t)
	case types.Bytes:
		return len(t)
	case traits.Mapper:
		n := 1
		for it := t.Iterator(); n <= limit && it.HasNext() == types.True; {
			key := it.Next()
			n += weight(key, limit-n) + weight(t.Get(key), limit-n) + 1
		}
		return n
	case traits.Lister:
		n := 1
		for it := t.Iterator(); n <= limit && it.HasNext() == types.True; {
			n += weight(it.Next(), limit-n) + 1
		}
		return n
	}
	return 1
}

func weights(limit int, values ...ref.Val) int {
	n := 0
	for _, v := range values {
		if n > limit {
			break
		}
		n += weight(v, limit-n)
	}
	return n
}

func bounded(what string, is, most int) {
	if is > most {
		stop("%s takes more than the %d a rule may take", what, most)
	}
}

func length(v ref.Val) int {
	switch t := v.(type) {
	case types.String:
		return len(t)
	case types.Bytes:
		return len(t)
	case traits.Lister:
		n, _ := t.Size().(types.Int)
		return int(n)
	}
	return 0
}

func text(v ref.Val) string { s, _ := v.(types.String); return string(s) }

// guards ask before a function is called. What is not named takes and makes no more than its arguments have, and is
// bounded by the cost of what made those.
var guards = map[string]func(args []ref.Val){
	operators.Add: func(args []ref.Val) {
		most := maxText
		if _, list := args[0].(traits.Lister); list {
			most = maxItems
		}
		bounded("+", length(args[0])+length(args[1]), most)
	},
	operators.In: func(args []ref.Val) { bounded("in", weights(maxWeight, args...), maxWeight) },
	"replace": func(args []ref.Val) {
		from, old, now := text(args[0]), text(args[1]), text(args[2])
		times := strings.Count(from, old)
		if len(args) > 3 {
			if n, ok := args[3].(types.Int); ok && n >= 0 {
				times = int(min(int64(times), int64(n)))
			}
		}
		bounded("replace", len(from)+times*max(0, len(now)-len(old)), maxText)
	},
	"join": func(args []ref.Val) {
		between := 0
		if len(args) > 1 {
			between = length(args[1])
		}
		bounded("join", length(args[0]), maxItems)
		bounded("join", weight(args[0], maxText)+length(args[0])*between, maxText)
	},
	"format":        func(args []ref.Val) { bounded("format", weights(maxFormat, args...), maxFormat) },
	"split":         func(args []ref.Val) { bounded("split", 1+strings.Count(text(args[0]), text(args[1])), maxItems) },
	"strings.quote": func(args []ref.Val) { bounded("strings.quote", length(args[0]), maxText/2) },
	"indexOf":       searched,
	"lastIndexOf":   searched,
}

func searched(args []ref.Val) {
	bounded("a search", len(text(args[0]))*len(text(args[1])), maxSearch)
}

// guarded are the environment's own functions, each asked for before it is called.
func guarded(env *cel.Env) ([]*functions.Overload, error) {
	var out []*functions.Overload
	for name, guard := range guards {
		bindings, err := env.Functions()[name].Bindings()
		if err != nil {
			return nil, err
		}
		for _, b := range bindings {
			own := *b
			if b.Unary != nil {
				own.Unary = func(v ref.Val) ref.Val { guard([]ref.Val{v}); return b.Unary(v) }
			}
			if b.Binary != nil {
				own.Binary = func(l, r ref.Val) ref.Val { guard([]ref.Val{l, r}); return b.Binary(l, r) }
			}
			if b.Function != nil {
				own.Function = func(args ...ref.Val) ref.Val { guard(args); return b.Function(args...) }
			}
			out = append(out, &own)
		}
	}
	return out, nil
}

// equality is == or !=, which CEL compiles to no call: lists that contain one list twice, and so on, take time without end.
type equality struct {
	interpreter.InterpretableCall
	differs bool
}

func compared(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if call, ok := i.(interpreter.InterpretableCall); ok && len(call.Args()) == 2 {
		switch call.Function() {
		case operators.Equals:
			return equality{call, false}, nil
		case operators.NotEquals:
			return equality{call, true}, nil
		}
	}
	return i, nil
}

// Exec compares what is not too large.
func (e equality) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	var sides [2]ref.Val
	for i, arg := range e.Args() {
		if sides[i] = arg.Exec(frame); types.IsUnknownOrError(sides[i]) {
			return sides[i]
		}
	}
	bounded("a comparison", weights(maxWeight, sides[:]...), maxWeight)
	equal := types.Equal(sides[0], sides[1])
	if e.differs {
		return types.Bool(equal != types.True)
	}
	return equal
}

// Eval is Exec for callers of the older kind.
func (e equality) Eval(vars interpreter.Activation) ref.Val { return e.Exec(interpreter.AsFrame(vars)) }

// costs are those of functions that CEL holds to take no time, or to look at the outermost list alone.
type costs struct {
	patterns map[string]int // instructions of the regular expressions
}

var _ interpreter.ActualCostEstimator = costs{}

// CallCost is the cost of a call that was made; nil leaves it to CEL.
func (c costs) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	var n int
	switch function {
	case operators.Equals, operators.NotEquals, operators.In, "join", "format":
		n = weights(maxWeight, args...)
	case "matches":
		n = (1 + length(args[0])) * max(1, c.patterns[text(args[1])]/4)
	case "condition":
		_, list := conditionsOf(args[0])
		n = unitsOfByte * len(list)
	case "split":
		n = length(args[0]) + unitsOfByte*length(result)
	case "indexOf", "lastIndexOf":
		n = length(args[0]) * max(1, length(args[1])/8)
	case "replace", "strings.quote", "lowerAscii", "upperAscii", "trim", "substring", "charAt", "string", "bytes":
		n = length(args[0]) + length(result)
	default:
		return nil
	}
	cost := uint64(1 + n/unitsOfByte)
	return &cost
}
