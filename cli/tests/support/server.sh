#!/bin/sh
# An MCP server for tests, in a folder: `server.sh FOLDER`.
#
# list_things   reads; answers at once
# list_slowly   reads; writes to FOLDER/began and answers when FOLDER/go is there
# post_note     changes something: its frame is a line of FOLDER/posted
# post_slowly   the same, and answers only when FOLDER/go is there
# fail_reading  says that it failed
folder=$1
echo "$$" >> "$folder/pids"

tool() { # name, description
  printf '{"name":"%s","description":"%s","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"amount":{"type":"number"},"rate":{"type":"number"}}}}' "$1" "$2"
}

answer() { # the result
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
}

wait_for_go() {
  echo "$1" >> "$folder/began"
  while [ ! -e "$folder/go" ]; do sleep 0.02; done
}

while IFS= read -r line; do
  id=$(printf '%s\n' "$line" | sed -n 's/^[^"]*"jsonrpc":"2.0","id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer "{\"tools\":[$(tool list_things 'Lists things.'),$(tool list_slowly 'Lists things, slowly.'),$(tool post_note 'Posts a note.'),$(tool post_slowly 'Posts a note, slowly.'),$(tool read_and_fail 'Reads what is not there.')]}" ;;
    *'"name":"list_things"'*)
      echo list_things >> "$folder/calls"
      answer '{"content":[],"structuredContent":{"things":[{"id":1,"price":1.10},{"id":2,"price":1e2}]}}' ;;
    *'"name":"list_slowly"'*)
      echo list_slowly >> "$folder/calls"
      wait_for_go list_slowly
      answer '{"content":[{"type":"text","text":"slow things"}]}' ;;
    *'"name":"post_note"'*)
      printf '%s\n' "$line" >> "$folder/posted"
      answer '{"content":[{"type":"text","text":"posted"}]}' ;;
    *'"name":"post_slowly"'*)
      printf '%s\n' "$line" >> "$folder/posted"
      wait_for_go post_slowly
      answer '{"content":[{"type":"text","text":"posted"}]}' ;;
    *'"name":"read_and_fail"'*)
      answer '{"isError":true,"content":[{"type":"text","text":"there is nothing"}]}' ;;
    *'"method":"ping"'*)
      answer '{}' ;;
  esac
done
