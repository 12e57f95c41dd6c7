// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl hook": what hooks there are, and a hook that runs a command for each
 * call.
 *
 * DESIGN NOTES
 *
 * The hook is this process: the module has it as long as its socket is open.
 * The command gets a process group of its own, which is killed when its call
 * is over or this process is told to end.  A second socket listens for the
 * hook's own end, so that the process does not outlive its device.
 */
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
	"lacectl hook [show [dev DEV]]\n"
	"lacectl hook run dev DEV name NAME phase PHASE[,PHASE]... -- COMMAND...\n"
	"lacectl hook del dev DEV name NAME\n"
	"  PHASE is quiesce, switch or resume\n"
	"  run executes COMMAND for each call, which fails if the exit status is\n"
	"  not 0; the environment has LACE_DEV, LACE_HOOK, LACE_PHASE, LACE_FROM,\n"
	"  LACE_TO, LACE_TRANSITION, LACE_ATTEMPT, LACE_BACK and LACE_DEADLINE_MS\n";

/* ---- show ---- */

static json_t *json_phases(uint32_t phases)
{
	json_t *list = json_array();
	int i;

	for (i = 1; i <= LACE_PHASE_MAX; i++)
		if (phases & 1U << i)
			json_array_append_new(list, json_string(phase_names[i]));
	return list;
}

static json_t *phase_or_null(const struct lace_rt_hook *hook)
{
	return hook->call ? json_string(phase_name(hook->phase)) : json_null();
}

json_t *json_hook(const struct lace_rt_hook *hook)
{
	return json_pack("{s:s, s:s, s:o, s:I, s:b, s:o, s:o, s:o, s:o}",
			 "dev", hook->ifname, "name", hook->name,
			 "phases", json_phases(hook->phases),
			 "portid", (json_int_t)hook->portid,
			 "busy", hook->busy,
			 "phase", phase_or_null(hook),
			 "transition", hook->call ?
				json_integer(hook->transition) : json_null(),
			 "error", json_or_null(hook->error),
			 "reason", hook->reason[0] ? json_string(hook->reason) :
				json_null());
}

json_t *json_call(const struct lace_rt_hook *call)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:I}",
			 "dev", call->ifname, "name", call->name,
			 "phase", phase_name(call->phase),
			 "transition", (json_int_t)call->transition,
			 "from", json_or_null(call->from),
			 "to", json_or_null(call->to),
			 "deadline_ms", (json_int_t)call->deadline_ms);
}

void print_hook(const struct lace_rt_hook *hook)
{
	const char *comma = " ";
	int i;

	printf("%s hook %s phases", hook->ifname, hook->name);
	for (i = 1; i <= LACE_PHASE_MAX; i++) {
		if (!(hook->phases & 1U << i))
			continue;
		printf("%s%s", comma, phase_names[i]);
		comma = ",";
	}
	if (hook->call)
		printf(" %s in %s of transition %" PRIu64,
		       hook->busy ? "busy" : hook->error ? "failed" : "done",
		       phase_name(hook->phase), hook->transition);
	if (hook->error > 0)
		printf(" (%s%s%s)", strerror((int)hook->error),
		       hook->reason[0] ? ": " : "", hook->reason);
	putchar('\n');
}

void print_call(const struct lace_rt_hook *call)
{
	printf("%s hook %s called in %s of transition %" PRIu64, call->ifname,
	       call->name, phase_name(call->phase), call->transition);
	print_or_none(" from", call->from);
	print_or_none(" to", call->to);
	printf(", %u ms\n", call->deadline_ms);
}

static int hook_show(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_client *client;
	struct lace_rt_hook *hooks;
	json_t *list = NULL;
	size_t nr, i;
	int ret;

	if (args_selection(&args, "hook", 0, &selection, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_hooks(client, selection.dev, &hooks, &nr, err);
	lace_client_close(client);
	if (ret)
		return ret;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			json_array_append_new(list, json_hook(&hooks[i]));
		else
			print_hook(&hooks[i]);
	free(hooks);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

/* ---- words ---- */

struct hook_words {
	const char *dev;
	const char *name;
	uint32_t phases;
	char **command;
};

static int parse_phases(struct args *args, struct hook_words *words,
			struct lace_error *err)
{
	static const char *const names[] = { "quiesce", "switch", "resume",
					     NULL };
	static const uint8_t phases[] = { LACE_PHASE_QUIESCE, LACE_PHASE_SWITCH,
					  LACE_PHASE_RESUME };
	const char *word, *end;
	char one[16];
	int i;

	if (args_word(args, "phase", &word, err))
		return -1;
	for (;; word = end + 1) {
		end = word + strcspn(word, ",");
		snprintf(one, sizeof(one), "%.*s", (int)(end - word), word);
		if (args_match(one, names, &i, err))
			return -1;
		words->phases |= 1U << phases[i];
		if (!*end)
			return 0;
	}
}

static int need_words(const struct hook_words *words, bool run,
		      struct lace_error *err)
{
	const char *missing = !words->dev ? "\"dev DEVICE\"" :
			      !words->name ? "\"name NAME\"" :
			      run && !words->phases ? "\"phase PHASE\"" :
			      run && !words->command ? "\"-- COMMAND\"" : NULL;

	if (missing)
		return lace_fail(err, LACE_ERR_INPUT, "%s is missing", missing);
	return 0;
}

static int parse_words(struct args *args, bool run, struct hook_words *words,
		       struct lace_error *err)
{
	const char *const keywords[] = { "dev", "name", run ? "phase" : NULL,
					 NULL };
	int keyword, ret = 0;

	while (!ret) {
		if (run && args_peek(args) && !strcmp(args_peek(args), "--")) {
			args_next(args);
			words->command = args->argc ? args->argv : NULL;
			break;
		}
		if (args_keyword(args, keywords, &keyword, err))
			return -1;
		if (keyword < 0)
			break;
		if (keyword == 0)
			ret = args_word(args, "device after \"dev\"",
					&words->dev, err);
		else if (keyword == 1)
			ret = args_word(args, "name of a hook", &words->name,
					err);
		else
			ret = parse_phases(args, words, err);
	}
	return ret ? ret : need_words(words, run, err);
}

/* ---- run ---- */

struct runner {
	const struct lacectl *ctl;
	const struct hook_words *words;
	struct lace_client *client;
	struct lace_client *asker;	/* for what is no business of the hook */
	struct lace_monitor *monitor;
	int signals;
	struct lace_rt_hook call;
	pid_t child;			/* 0: none */
	int64_t over_ms;		/* when the call is */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void set_number(const char *name, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	setenv(name, number == LACE_RT_NONE ? "none" : text, 1);
}

static void set_environment(struct runner *runner)
{
	struct lace_rt_transition transition = { 0 };
	const struct lace_rt_hook *call = &runner->call;
	struct lace_error ignored;

	lace_client_transition(runner->asker, call->ifname, call->transition,
			       &transition, &ignored);
	setenv("LACE_DEV", call->ifname, 1);
	setenv("LACE_HOOK", call->name, 1);
	setenv("LACE_PHASE", phase_name(call->phase), 1);
	set_number("LACE_FROM", call->from);
	set_number("LACE_TO", call->to);
	set_number("LACE_TRANSITION", call->transition);
	set_number("LACE_ATTEMPT", transition.attempt);
	set_number("LACE_BACK", transition.back);
	set_number("LACE_DEADLINE_MS", call->deadline_ms);
}

/* The command gets its own group, its own signals, and its own process. */
static void execute(char **command)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(command[0], command);
	fprintf(stderr, "lacectl: cannot execute %s: %s\n", command[0],
		strerror(errno));
	_exit(127);
}

static void kill_child(struct runner *runner)
{
	if (!runner->child)
		return;
	kill(-runner->child, SIGKILL);
	kill(runner->child, SIGKILL);
	waitpid(runner->child, NULL, 0);
	runner->child = 0;
}

/* An answer that comes too late is the module's business to count. */
static int answer(struct runner *runner, uint32_t error, const char *reason,
		  struct lace_error *err)
{
	const struct lacectl *ctl = runner->ctl;
	struct lace_rt_hook *call = &runner->call;
	int ret;

	ret = lace_client_answer_call(runner->client, call, error, reason, err);
	if (ret == -ESTALE) {
		error = ETIMEDOUT;
		reason = "its time was over";
	} else if (ret) {
		return ret;
	}
	call->error = error;
	snprintf(call->reason, sizeof(call->reason), "%s", reason ? reason : "");
	call->phases = runner->words->phases;
	if (ctl->json)
		return print_json(ctl, json_hook(call), err);
	print_hook(call);
	return print_end(err);
}

static int begin(struct runner *runner, struct lace_error *err)
{
	kill_child(runner);
	runner->over_ms = now_ms() + runner->call.deadline_ms;
	set_environment(runner);
	fflush(stdout);
	runner->child = fork();
	if (!runner->child)
		execute(runner->words->command);
	if (runner->child > 0)
		return 0;
	runner->child = 0;
	return answer(runner, EAGAIN, "no process can be started", err);
}

static int child_ended(struct runner *runner, struct lace_error *err)
{
	char reason[LACE_REASON_MAX + 1];
	int status;

	if (waitpid(runner->child, &status, WNOHANG) != runner->child)
		return 0;
	runner->child = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return answer(runner, 0, NULL, err);
	snprintf(reason, sizeof(reason), "%.80s: %s %d",
		 runner->words->command[0],
		 WIFEXITED(status) ? "exit status" : "killed by signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return answer(runner, EIO, reason, err);
}

static int call_over(struct runner *runner, struct lace_error *err)
{
	kill_child(runner);
	return answer(runner, ETIMEDOUT, "the command took too long", err);
}

/* 1: the hook is one no more. */
static int read_events(struct runner *runner, struct lace_error *err)
{
	const struct hook_words *words = runner->words;
	struct lace_rt_event event;
	int ret, gone = 0;

	while ((ret = lace_monitor_next(runner->monitor, &event, err)) > 0) {
		gone |= event.cmd == LACE_CMD_HOOK_DEL_NTF &&
			!strcmp(event.hook.ifname, words->dev) &&
			!strcmp(event.hook.name, words->name);
		lace_rt_event_free(&event);
	}
	return ret < 0 ? ret : gone;
}

static int read_calls(struct runner *runner, struct lace_error *err)
{
	int ret;

	while ((ret = lace_client_next_call(runner->client, &runner->call,
					    err)) > 0)
		if (begin(runner, err))
			return -1;
	return ret;
}

/* 1: a signal to end. */
static int read_signals(struct runner *runner, struct lace_error *err)
{
	struct signalfd_siginfo info;
	int end = 0;

	while (read(runner->signals, &info, sizeof(info)) == sizeof(info))
		end |= info.ssi_signo != SIGCHLD;
	if (end || !runner->child)
		return end;
	return child_ended(runner, err);
}

static int timeout_ms(const struct runner *runner)
{
	int64_t left = runner->over_ms - now_ms();

	return !runner->child ? -1 : left > 0 ? (int)left : 0;
}

static int serve(struct runner *runner, struct lace_error *err)
{
	struct pollfd fds[] = {
		{ .fd = lace_client_fd(runner->client), .events = POLLIN },
		{ .fd = lace_monitor_fd(runner->monitor), .events = POLLIN },
		{ .fd = runner->signals, .events = POLLIN },
	};
	int ret;

	for (;;) {
		ret = poll(fds, 3, timeout_ms(runner));
		if (ret < 0 && errno != EINTR)
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot wait for calls: %s",
					 strerror(errno));
		ret = read_signals(runner, err);
		if (ret)
			return ret < 0 ? ret : 0;
		if (runner->child && now_ms() >= runner->over_ms &&
		    call_over(runner, err))
			return -1;
		if (read_calls(runner, err))
			return -1;
		ret = read_events(runner, err);
		if (ret > 0)
			return lace_fail(err, LACE_ERR_ANSWER,
					 "%s: hook %s is one no more",
					 runner->words->dev,
					 runner->words->name);
		if (ret)
			return ret;
	}
}

static int open_runner(struct runner *runner, struct lace_error *err)
{
	sigset_t mine;

	sigemptyset(&mine);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mine, NULL);
	runner->signals = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
	if (runner->signals < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot wait for signals: %s",
				 strerror(errno));
	if (lace_client_open(NULL, &runner->client, err) ||
	    lace_client_open(NULL, &runner->asker, err) ||
	    lace_monitor_open(NULL, &runner->monitor, err))
		return -1;
	return lace_client_set_hook(runner->client, runner->words->dev,
				    runner->words->name, runner->words->phases,
				    err);
}

static int say_ready(const struct lacectl *ctl, const struct hook_words *words,
		     struct lace_error *err)
{
	struct lace_rt_hook hook = { .phases = words->phases, .from = -1,
				     .error = -1 };

	snprintf(hook.ifname, sizeof(hook.ifname), "%s", words->dev);
	snprintf(hook.name, sizeof(hook.name), "%s", words->name);
	if (ctl->json)
		return print_json(ctl, json_hook(&hook), err);
	print_hook(&hook);
	return print_end(err);
}

static int hook_run(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	struct args args = { argc, argv };
	struct hook_words words = { 0 };
	struct runner runner = { .ctl = ctl, .words = &words, .signals = -1 };
	int ret;

	if (parse_words(&args, true, &words, err))
		return -1;
	ret = open_runner(&runner, err);
	if (!ret)
		ret = say_ready(ctl, &words, err);
	if (!ret)
		ret = serve(&runner, err);
	kill_child(&runner);
	lace_client_close(runner.client);
	lace_client_close(runner.asker);
	lace_monitor_close(runner.monitor);
	if (runner.signals >= 0)
		close(runner.signals);
	return ret;
}

/* ---- del ---- */

static int hook_del(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	struct args args = { argc, argv };
	struct hook_words words = { 0 };
	struct lace_client *client;
	int ret;

	(void)ctl;
	if (parse_words(&args, false, &words, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_del_hook(client, words.dev, words.name, err);
	lace_client_close(client);
	return ret;
}

static const struct command commands[] = {
	{ "show", hook_show },
	{ "run", hook_run },
	{ "del", hook_del },
	{ NULL, NULL },
};

const struct object hook_object = { "hook", usage, commands, NULL };
