package cache

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// units of time that people say, and time.ParseDuration does not know.
var units = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ParseAge reads how long something was not used: "30d", "2w", "168h". It is more than nothing.
func ParseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	for suffix, unit := range units {
		digits, ok := strings.CutSuffix(text, suffix)
		if n, nerr := strconv.ParseUint(digits, 10, 31); ok && nerr == nil && n <= uint64(math.MaxInt64/unit) {
			age, err = time.Duration(n)*unit, nil
		}
	}
	if err != nil || age <= 0 {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return age, nil
}

// ParseSize reads a size of bytes: "500Mi" and "2Gi", also written "500MiB", "2GB", "2 GB". It is more than nothing.
func ParseSize(text string) (int64, error) {
	plain := strings.ReplaceAll(text, " ", "")
	if short, ok := strings.CutSuffix(plain, "B"); ok {
		if plain = short; strings.HasSuffix(plain, "K") { // a kilobyte is written so, too
			plain = short[:len(short)-1] + "k"
		}
	}
	q, err := resource.ParseQuantity(plain)
	if err != nil || q.Sign() <= 0 || strings.HasSuffix(plain, "m") {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return q.Value(), nil
}

// SizeText is a size for people.
func SizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// AgeText is an age for people, in the largest unit.
func AgeText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
