#!/bin/sh
# A day's work, done by a script: a project, a toolset and a token, a call and its row in the history, and the
# toolset once out and in again. What it makes it takes away at the end, also where it fails half-way.
#
# It uses mcpr-ctl --json and jq, nothing else, and works on any running gateway that has a server `calc`
# (`mcpr-gateway demo` has one). mcpr-ctl finds the gateway as always: MCPR_HOME, MCPR_SOCKET, or MCPR_GATEWAY
# with MCPR_TOKEN.
set -eu

name="daily-$$"
token=
answer=

begin() {
    step=$1
    printf 'daily: %s\n' "$step"
}

die() {
    printf 'daily: "%s" failed: %s\n' "$step" "$1" >&2
    exit 1
}

# Runs mcpr-ctl and keeps its answer; where it fails, the answer says why.
ctl() {
    answer=$(mcpr-ctl --json --quiet "$@") || die "$(got '.error | .message + (if .hint then "; " + .hint else "" end)')"
}

# What a filter of jq gives of the answer.
got() {
    printf '%s\n' "$answer" | jq -er --arg name "$name" --arg token "$token" "$1"
}

# Goes on only if a filter of jq holds for the answer.
expect() {
    got "$1" > /dev/null || die "$2: $answer"
}

# Takes back what is there still, whatever became of the rest.
tidy() {
    for left in "toolsets rm $name --force" "projects rm $name" "tokens revoke ${token:-$name}"; do
        # shellcheck disable=SC2086 # These are words.
        mcpr-ctl --json --quiet $left > /dev/null 2>&1 || :
    done
}

begin 'looking for what is needed'
for program in mcpr-ctl jq; do
    command -v "$program" > /dev/null || die "$program is not in PATH: install it first"
done
ctl servers ls
expect 'any(.servers[]; .name == "calc" and .state == "ok")' \
    'the gateway has no running server `calc` (`mcpr-gateway demo` starts one that has)'
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

begin 'making a project'
ctl projects create "$name" --servers calc --description 'made by daily.sh'
expect '.name == $name and .members == ["calc"]' 'the project does not have the server'

begin 'making a toolset, with a pattern in it'
ctl toolsets create "$name" --tools 'calc.add,calc.mul*' --description 'made by daily.sh'
expect '.toolset.name == $name and .toolset.tools == 2' 'the toolset does not have two tools'

begin 'making a token that is bound to the project'
ctl tokens create --name "$name" --project "$name" --expires 1h
token=$(got .id) || die "the answer has no id: $answer"
expect '.project == $name and (.secret | startswith("mcpr_pat_"))' 'the token is not bound'

begin 'equipping the toolset for the token'
ctl toolsets equip "$name" --token "$token"
expect '.principal == $token and ([.tools[].namespacedName] | sort) == ["calc.add", "calc.multiply"]' \
    'other tools than those of the toolset are equipped'
tool=$(got '.tools[] | select(.namespacedName == "calc.add").name') || die "the answer has no tool calc.add: $answer"
ctl toolsets active --token "$token"
expect '.by == "equipped" and .toolset.toolset.name == $name' 'another toolset is in force'

begin 'calling a tool'
ctl history ls --limit 1
before=$(got '.calls[0].id // ""')
ctl tools call "$tool" --arg a=20 --arg b=22
expect '.structuredContent.result == 42' '20 and 22 are not 42'

begin 'reading the row of the call'
ctl history ls --server calc --tool add --limit 1
row=$(got '.calls[0].id // empty') || die 'the history has no such call: is it turned off?'
[ "$row" != "$before" ] || die 'the history has only older calls'
ctl history show "$row"
expect '.method == "tools/call" and .server == "calc" and .tool == "add" and .status == "ok"' 'it is another call'

begin 'exporting the toolset'
ctl toolsets export "$name" --with-hashes
expect '.name == $name and (.tools[0].definitionHash | type) == "string"' 'the hashes are missing'
exported=$answer

begin 'deleting the toolset'
ctl toolsets rm "$name" --force
ctl toolsets ls
expect 'all(.toolsets[]; .name != $name)' 'it is there still'

begin 'importing it again'
answer=$(printf '%s\n' "$exported" | mcpr-ctl --json --quiet toolsets import -) || die "it was not taken: $answer"
expect '.toolsets == [{"name": $name, "outcome": "created"}]' 'something else came of it'
ctl toolsets export "$name" --with-hashes
[ "$answer" = "$exported" ] || die "it is not the same: $answer, and was $exported"
ctl toolsets show "$name"
expect '(.tools | length) == 2 and all(.tools[]; .state == "registered" and .definition == "unchanged")' \
    'its tools are not as they were'

begin 'revoking the token'
ctl tokens revoke "$token"
expect '.id == $token and .state == "revoked"' 'it is not revoked'

begin 'taking away what was made'
ctl toolsets rm "$name"
ctl projects rm "$name"

printf 'daily: done\n'
