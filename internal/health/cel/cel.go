// Package cel evaluates health rules written in CEL: expressions over `self`, the live object. Every evaluation is
// bounded in size, nesting and cost, every call in what it takes and makes, and each distinct expression is compiled once, as long as there are not very many.
//
// The package must not know where rules come from, which of several applies, or how objects are read.
package cel

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"

	"hawser.dev/hawser/internal/health"
)

// Bounds of one expression: code points, depth of its tree, loops in loops, and CEL's cost units (about one per visited
// node) for one evaluation.
const (
	maxSize    = 4096
	maxDepth   = 100
	maxNesting = 3
	maxCost    = 1_000_000
)

// maxKept bounds the texts of the expressions whose programs are kept: rules come from records of clusters, too.
const maxKept = 256 << 10

// Checker evaluates CEL. The zero value is ready to use; it may be used by many at once.
type Checker struct {
	mu       sync.Mutex
	env      *cel.Env // made at the first use: a process that judges nothing pays nothing
	programs map[string]compiled
	kept     int // bytes of their texts
}

type compiled struct {
	program cel.Program
	err     error
}

var _ health.Checker = (*Checker)(nil)

// Vet returns the first expression of the rule that does not compile, with CEL's own words.
func (c *Checker) Vet(rule health.Check) error {
	if strings.TrimSpace(rule.CEL.Ready) == "" {
		return errors.New("ready: the expression is missing")
	}
	for _, e := range []struct {
		field, text string
		want        *cel.Type
	}{
		{"failed", rule.CEL.Failed, cel.BoolType}, {"progressing", rule.CEL.Progressing, cel.BoolType},
		{"ready", rule.CEL.Ready, cel.BoolType}, {"message", rule.CEL.Message, cel.StringType},
	} {
		if e.text == "" {
			continue
		}
		if _, err := c.compile(e.text, e.want); err != nil {
			return fmt.Errorf("%s: %w", e.field, err)
		}
	}
	return nil
}

// Check asks failed, then progressing, then ready. What cannot be told yet, because the object does not have the field,
// counts as not so. An evaluation that reaches a bound is an error.
func (c *Checker) Check(rule health.Check, obj map[string]any) (health.Status, bool, error) {
	if failed, _, err := c.holds(rule.CEL.Failed, obj); err != nil {
		return health.Status{}, true, fmt.Errorf("failed: %w", err)
	} else if failed {
		return health.Status{State: health.Failed, Reason: c.reason(rule, obj, "failed")}, true, nil
	}
	if going, _, err := c.holds(rule.CEL.Progressing, obj); err != nil {
		return health.Status{}, true, fmt.Errorf("progressing: %w", err)
	} else if going {
		return health.Status{State: health.Progressing, Reason: c.reason(rule, obj, "progressing")}, true, nil
	}
	ready, unknown, err := c.holds(rule.CEL.Ready, obj)
	switch {
	case err != nil:
		return health.Status{}, true, fmt.Errorf("ready: %w", err)
	case ready:
		return health.Status{State: health.Ready}, true, nil
	case unknown != "":
		return health.Status{State: health.Progressing, Reason: c.reason(rule, obj, "not known yet: "+unknown)}, true, nil
	}
	return health.Status{State: health.Progressing, Reason: c.reason(rule, obj, "not ready yet")}, true, nil
}

// holds evaluates a condition; "" is false. unknown says why it cannot be told from this object.
func (c *Checker) holds(text string, obj map[string]any) (is bool, unknown string, err error) {
	if text == "" {
		return false, "", nil
	}
	p, err := c.compile(text, cel.BoolType)
	if err != nil {
		return false, "", err
	}
	out, err := eval(p, obj)
	var ended interpreter.EvalCancelledError
	if errors.As(err, &ended) {
		return false, "", fmt.Errorf("the expression takes too much time or memory for this object (%s): simplify it, or judge by a field of the status", line(ended.Message))
	}
	if err != nil {
		return false, line(err.Error()), nil
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Sprintf("the expression gives %s, not a bool", out.Type().TypeName()), nil
	}
	return b, "", nil
}

// reason is the rule's message, or else what is given. Of a Secret nothing is told: its values could be in it.
func (c *Checker) reason(rule health.Check, obj map[string]any, otherwise string) string {
	if kind, _ := obj["kind"].(string); kind == "Secret" {
		return "not ready by its health rule"
	}
	if rule.CEL.Message == "" {
		return otherwise
	}
	p, err := c.compile(rule.CEL.Message, cel.StringType)
	if err != nil {
		return otherwise
	}
	out, err := eval(p, obj)
	if err != nil {
		return otherwise
	}
	if s, ok := out.Value().(string); ok && strings.TrimSpace(s) != "" {
		return line(s)
	}
	return otherwise
}

// line is a text as one line. Who shows it cuts it, after secrets in it were masked.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// eval runs a program; a panic of a function on strange data is an error like any other.
func eval(p cel.Program, obj map[string]any) (out ref.Val, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("the expression cannot be evaluated: %v", r)
		}
	}()
	out, _, err = p.Eval(map[string]any{"self": obj})
	return out, err
}

// compile makes the program of an expression once.
func (c *Checker) compile(text string, want *cel.Type) (cel.Program, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := want.String() + " " + text
	if got, ok := c.programs[key]; ok {
		return got.program, got.err
	}
	if c.env == nil {
		env, err := environment()
		if err != nil {
			return nil, err
		}
		c.env, c.programs = env, map[string]compiled{}
	}
	p, err := compile(c.env, text, want)
	if c.kept += len(key); c.kept > maxKept { // those that are needed again are compiled again
		c.programs, c.kept = map[string]compiled{}, len(key)
	}
	if len(key) <= maxKept {
		c.programs[key] = compiled{p, err}
	}
	return p, err
}

func compile(env *cel.Env, text string, want *cel.Type) (cel.Program, error) {
	if n := len([]rune(text)); n > maxSize {
		return nil, fmt.Errorf("the expression has %d characters, want at most %d", n, maxSize)
	}
	tree, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	if got := tree.OutputType(); !got.IsAssignableType(want) && !got.IsEquivalentType(cel.DynType) {
		return nil, fmt.Errorf("the expression gives %s, want %s", got, want)
	}
	patterns, err := literalPatterns(tree)
	if err != nil {
		return nil, err
	}
	own, err := guarded(env)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 the one way to stand before CEL's own functions
	return env.Program(tree, cel.Functions(own...), cel.CustomDecoratorV2(compared),
		cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost), cel.CostTracking(costs{patterns}))
}

// literalPatterns are the regular expressions and how many instructions each compiles to. Those that come from data are refused, as
// their size has no bound, and those that compile to much.
func literalPatterns(tree *cel.Ast) (map[string]int, error) {
	var err error
	sizes := map[string]int{}
	ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" || len(e.AsCall().Args()) == 0 {
			return
		}
		args := e.AsCall().Args()
		pattern := args[len(args)-1]
		if pattern.Kind() != ast.LiteralKind {
			err = errors.New("the pattern of matches has to be written out")
			return
		}
		text, ok := pattern.AsLiteral().Value().(string)
		if !ok {
			return // the types were checked
		}
		parsed, wrong := syntax.Parse(text, syntax.Perl)
		if wrong != nil {
			err = fmt.Errorf("the pattern of matches: %w", wrong)
			return
		}
		program, wrong := syntax.Compile(parsed.Simplify())
		if wrong != nil || len(program.Inst) > maxPattern {
			err = fmt.Errorf("the pattern of matches compiles to more than %d instructions: repeat less in it", maxPattern)
			return
		}
		sizes[text] = len(program.Inst)
	}))
	return sizes, err
}

// environment is what expressions may use: CEL's standard library and its string functions, and condition.
func environment() (*cel.Env, error) {
	return cel.NewCustomEnv(cel.StdLib(), ext.Strings(ext.StringsVersion(2), ext.StringsMaxPrecision(100)),
		cel.ParserExpressionSizeLimit(maxSize), cel.ParserRecursionLimit(maxDepth), cel.CrossTypeNumericComparisons(true),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateComprehensionNestingLimit(maxNesting)),
		cel.Variable("self", cel.DynType),
		cel.Function("condition", cel.Overload("condition_dyn_string", []*cel.Type{cel.DynType, cel.StringType},
			cel.MapType(cel.StringType, cel.StringType), cel.BinaryBinding(condition))))
}

// condition(x, type) is the condition of that type in x.status.conditions (or x.conditions) with the fields status,
// reason and message. One that is not there, or that tells of an older generation, has the status "Unknown".
func condition(x, kind ref.Val) ref.Val {
	out := map[string]string{"status": "Unknown", "reason": "", "message": ""}
	obj, list := conditionsOf(x)
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] != kind.Value() {
			continue
		}
		for k := range out {
			if s, ok := c[k].(string); ok {
				out[k] = s
			}
		}
		meta, _ := obj["metadata"].(map[string]any)
		seen, told := integer(c["observedGeneration"])
		is, has := integer(meta["generation"])
		if told && has && seen < is {
			out["status"], out["reason"], out["message"] = "Unknown", "", "its controller has not seen the change yet"
		}
	}
	return types.DefaultTypeAdapter.NativeToValue(out)
}

func conditionsOf(x ref.Val) (obj map[string]any, list []any) {
	obj, _ = x.Value().(map[string]any)
	holder := obj
	if status, ok := obj["status"].(map[string]any); ok {
		holder = status
	}
	list, _ = holder["conditions"].([]any)
	return obj, list
}

func integer(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}
