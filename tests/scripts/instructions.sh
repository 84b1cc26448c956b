#!/bin/sh
# Counts the instructions of one tools/call with callgrind, at scales that must not matter: 1, 100 and 1,000 sessions, 10 and 10,000
# tools, 1 and 100,000 tokens. Fails if they are not within 10 % of each other. Needs valgrind, jq and some ten minutes;
# `instructions.sh quick` leaves the largest scales out.
set -eu
cd "$(dirname "$0")/../.."
calls=200
built=$(cargo build --profile profiling -p mcpr-tests --bin fakemcp --bench instructions --message-format json)
bench=$(printf '%s' "$built" | jq -r 'select(.target.name == "instructions") | .executable // empty' | tail -1)
count() {
    out=$(mktemp)
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*measured_calls*' --callgrind-out-file="$out" \
        "$bench" "$1" "$2" "$3" $calls >/dev/null 2>&1
    awk -v calls=$calls '/^(summary|totals):/ { total = $2 } END { printf "%d\n", total / calls }' "$out"
    rm -f "$out"
}
case "${1:-}" in
    quick) scales="1,10,1 20,10,1 1,200,1 1,10,500" ;;
    *) scales="1,10,1 100,10,1 1000,10,1 1,10000,1 1,10,100000" ;;
esac
printf '%-10s %-10s %-10s %s\n' sessions tools tokens 'instructions of a call'
least=0
most=0
for scale in $scales; do
    sessions=${scale%%,*}
    rest=${scale#*,}
    counted=$(count "$sessions" "${rest%,*}" "${rest#*,}")
    printf '%-10s %-10s %-10s %s\n' "$sessions" "${rest%,*}" "${rest#*,}" "$counted"
    if [ "$least" -eq 0 ] || [ "$counted" -lt "$least" ]; then least=$counted; fi
    if [ "$counted" -gt "$most" ]; then most=$counted; fi
done
if [ $((most * 10)) -gt $((least * 11)) ]; then
    echo "the cost of a call grows with the scale: from $least to $most instructions" >&2
    exit 1
fi
