# `make demo` and `make test` do their job on a fresh machine: they make .venv and install what they need.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is made of what is imported, when it is: making it of everything takes half the install.
# Where the environment forbids that, every one of some hundred processes would read all sources anew.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := $(BIN)/pip --disable-pip-version-check install -q --no-compile

.PHONY: demo count play test test-all test-busy test-lowest lint warm unit alone plain tensorboard bench format clean help

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: .venv/base.stamp  ## train three players of Liar's Dice, let everybody meet, print the table
	$(BIN)/python -m training.demo

test: .venv/dev.stamp  ## everything CI runs, with samples of the wide cross products
	@$(MAKE) --no-print-directory -j 2 lint warm
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory -j 2 plain alone

TIMES ?= 1
test-busy: .venv/dev.stamp  ## the same TIMES times, while twice as many programs as cores want all of them
	$(BIN)/python -m tests.support.busy $(TIMES) $(MAKE) --no-print-directory test

test-all: export MASQUERADE_TESTS = all
test-all: test  ## the same with every config, every agent and every option set

test-lowest: .venv/lowest.stamp  ## the environments with the lowest versions that pyproject.toml allows
	.venv/lowest/bin/python -m pytest -q -n 2 --dist loadfile $(ENV_TESTS)

lint: .venv/dev.stamp  ## style, types and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

warm: .venv/dev.stamp  ## compile everything that is not compiled yet, on all cores
	$(BIN)/python -m envs.core.warming tests/support  # else every worker compiles what tests share

unit: warm  ## the tests, compiled
	$(BIN)/python -m pytest -m "not slow and not alone" -n 2 --dist loadfile --no-loadscope-reorder

alone: warm  ## tests with browsers, and with processes that die or are timed, one after the other
	$(BIN)/python -m pytest -q -m "alone and not slow" $$(grep -rl mark.alone tests --include=test_*.py)

plain: .venv/dev.stamp  ## the contract of every game once more as plain Python, without the compiler
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/envs/test_check_game.py tests/envs/test_kuhn.py tests/envs/test_leduc.py tests/envs/test_liars_dice*.py tests/envs/test_properties.py \
		-k "not plain_python"  # which compare with what is compiled

count:  ## lines of code and files, room by room
	@$(PYTHON) -m tests.support.count_lines

play: .venv/play.stamp  ## play against the agents, in a browser
	$(BIN)/python play.py

tensorboard: .venv/base.stamp  ## the curves of all runs, in a browser
	$(BIN)/tensorboard --logdir runs

bench: .venv/bench.stamp  ## our speed against the peers, in one run
	$(BIN)/python -m benchmarks.env_speed
	$(BIN)/python -m benchmarks.arena_speed

format: .venv/dev.stamp  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What needs neither learners nor peers.
ENV_TESTS := $(addprefix tests/envs/test_, aec.py check_game.py core.py drawing.py golden.py kuhn.py leduc.py \
	liars_dice.py liars_dice_bids.py liars_dice_face.py liars_dice_files.py options.py single_agent.py vector.py)

clean:  ## remove the environment and every cache
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info

.venv/bin/python:
	$(PYTHON) -m venv .venv

# One pip call with the constraints, so that exactly the tested versions are taken.
.venv/base.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -c constraints.txt -e '.[train]'
	@touch $@

.venv/play.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -c constraints.txt -e '.[play]'
	@touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -c constraints.txt -e '.[dev]'
	@touch .venv/base.stamp $@

# Of torch and what uses it any version will do.
.venv/lowest.stamp: .venv/bin/python pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv/lowest
	.venv/lowest/bin/pip install -q --no-compile -c constraints-lowest.txt -e '.[sb3]' hypothesis pytest pytest-xdist
	@touch $@

.venv/bench.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -c constraints.txt -e '.[dev,bench]'
	@touch .venv/base.stamp .venv/dev.stamp $@
