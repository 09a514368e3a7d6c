#!/usr/bin/env bash
# Generated from tools.yml: change that file, since this one is written anew.
set -euo pipefail
IFS=$'\n\t'
