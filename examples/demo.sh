#!/bin/sh
# The main job on three real clusters: plan, roll out, status, a change that waits for an approval of production, one that fails in
# staging, stops there and is taken back, an object that somebody changed by hand, and the history.
# Started by `make demo`, from the root of the repository. The clusters stay up until the last line it prints is run.
set -eu
name=${HAWSER_DEMO:-demo}
hawser=./bin/hawser
# A copy, because an apply keeps the identities of the clusters beside the bundle, and these clusters are not for ever.
shop=bin/demo
rm -rf "$shop" && mkdir -p "$shop" && cp -R examples/modules examples/storefront examples/*.yaml examples/*.cue "$shop"
step() { printf '\n\033[1m# %s\033[0m\n' "$1"; shift; printf '$ %s\n' "$*"; }
run() { step "$@"; shift; "$@"; }

run "Three real Kubernetes control planes on this machine" \
	$hawser sandbox up --name "$name" --clusters staging,production-eu,production-us --groups staging=1,production=2
fleet=$($hawser sandbox fleet --name "$name" --path)

run "One plan for the whole fleet; equal changes are grouped, nothing is written" \
	$hawser plan -f "$shop/shop.yaml" --fleet "$fleet" --fleet "$shop/rollout.yaml"
run "Roll it out, wave by wave" \
	$hawser apply -f "$shop/shop.yaml" --fleet "$fleet" --fleet "$shop/rollout.yaml" --yes
run "What runs where" \
	$hawser status shop --fleet "$fleet"
run "The same again: nothing changed, nothing is written" \
	$hawser apply -f "$shop/shop.yaml" --fleet "$fleet" --fleet "$shop/rollout.yaml" --yes

sed 's|shop/catalog, tag: 1.4.2|shop/catalog, tag: 1.4.3|' "$shop/shop.yaml" >"$shop/shop-1.4.3.yaml"
sed 's|soak: 3s}|soak: 3s, approval: manual}|' "$shop/rollout.yaml" >"$shop/approval.yaml"
set -- $hawser apply -f "$shop/shop-1.4.3.yaml" --fleet "$fleet" --fleet "$shop/approval.yaml" --yes
step "A wave with approval: manual: staging gets the change, and production waits" "$@"
if "$@"; then
	echo "demo: this should have waited for an approval" >&2
	exit 1
fi
run "An approval lets it go on later, from any terminal; no files are needed for it" \
	$hawser approve shop --fleet "$fleet" --yes --message CHG-1234
run "The same command as before goes on with production" "$@"

sed 's|shop/catalog, tag: 1.4.2|shop/unpullable, tag: 1.5.0|' "$shop/shop.yaml" >"$shop/shop-1.5.yaml"
set -- $hawser apply -f "$shop/shop-1.5.yaml" --fleet "$fleet" --fleet "$shop/rollout.yaml" --yes --timeout 15s
step "A change with an image nobody can pull: it fails in staging and stops there" "$@"
if "$@"; then
	echo "demo: this should have failed" >&2
	exit 1
fi
step "Production still runs what it ran" $hawser status shop --fleet "$fleet"
$hawser status shop --fleet "$fleet" || true
run "Take it back: what each cluster had before, through the same waves" \
	$hawser rollback shop --fleet "$fleet" --fleet "$shop/rollout.yaml" --yes

# By hand needs a tool of one's own for it; everything else needs this repository only.
if command -v kubectl >/dev/null; then
	run "Somebody changes an object by hand" \
		kubectl --kubeconfig "$($hawser sandbox kubeconfig --name "$name" --path)" --context production-eu -n shop set image deployment/catalog "*=registry.example.com/shop/catalog:hotfix"
	set -- $hawser drift shop --fleet "$fleet"
	step "Which is found, with who did it" "$@"
	if "$@"; then
		echo "demo: this should have found a difference" >&2
		exit 1
	fi
	run "And put right, on that cluster alone" \
		$hawser drift shop --correct --yes --fleet "$fleet" --fleet "$shop/rollout.yaml"
else
	printf '\n\033[1m# No kubectl here: without it nobody changes an object by hand, so that "hawser drift" would have nothing to find\033[0m\n'
fi
run "What was done, and where" \
	$hawser history shop --fleet "$fleet"

cat <<END

What to try next:
  export PATH=\$PWD/bin:\$PATH KUBECONFIG=$($hawser sandbox kubeconfig --name "$name" --path)
  export HAWSER_FLEET="$fleet,$PWD/$shop/rollout.yaml"   # what --fleet would name
  hawser history diff 2 3 --bundle shop
  hawser plan -f $shop/shop.cue          # the same bundle in CUE, with the version of before
  hawser status shop
  kubectl --context production-eu -n shop get deployments

Clean up:
  hawser sandbox down --name $name
END
