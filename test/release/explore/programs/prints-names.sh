#!/bin/sh
# Leaves a process that keeps its output open, prints what it has read, and says with its exit code if that failed.
sleep 300 &
curl -sf -m 5 -H "authorization: Bearer $PROJECT_AUTOMATION_TOKEN" "$PROJECT_AUTOMATION_BASE_URL/projects" -o names || exit 1
grep -o '"name":"[a-z]*"' names
