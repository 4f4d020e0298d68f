/* SPDX-License-Identifier: Apache-2.0 */
/* Which format a file is: by the name that its system gives it, else by what is in it. */
#include "config/load_priv.h"

static const struct {
	const char *word;
	enum format format;
} words[] = {
	{ "creel", FORMAT_CREEL },
	{ "athena", FORMAT_ATHENA },
	{ "athena-yaml", FORMAT_ATHENA },
	{ "openclaw", FORMAT_OPENCLAW },
	{ "openclaw-json5", FORMAT_OPENCLAW },
	{ "allowlist", FORMAT_ALLOWLIST },
	{ "allowlist-json", FORMAT_ALLOWLIST },
	{ "openclaw-net", FORMAT_OPENCLAW_NET },
	{ "ansible", FORMAT_ANSIBLE },
	{ "ansible-vars", FORMAT_ANSIBLE },
};

bool format_parse(struct str word, enum format *ret)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (str_eq(word, str_z(words[i].word))) {
			*ret = words[i].format;
			return true;
		}
	}
	return false;
}

bool format_is_yaml(enum format f)
{
	return f == FORMAT_ATHENA || f == FORMAT_ANSIBLE;
}

static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		      (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-'))
			return false;
	return s.n > 1; /* one letter is a drive, for those who have drives */
}

static int unknown_format(struct str arg, struct str word, struct err *e)
{
	const char *near = enum_closest(format_names, word);

	return err_set(e, ERR_USAGE,
		       "'" STR_FMT "': unknown format '" STR_FMT
		       "', accepted: creel, athena, openclaw, allowlist, "
		       "openclaw-net or ansible%s%s%s",
		       STR_ARG(arg), STR_ARG(word), near ? "; did you mean '" : "", near ? near : "",
		       near ? "'?" : "");
}

int config_source_parse(struct str arg, struct config_source *ret, struct err *e)
{
	struct config_source s = { .detect = true, .path = arg };
	struct str word, path;

	if (str_cut(arg, ':', &word, &path) && is_word(word)) {
		if (!format_parse(word, &s.format))
			return unknown_format(arg, word, e);
		s.detect = false;
		s.path = path;
	}
	if (s.path.n == 0)
		return err_set(e, ERR_USAGE, "'" STR_FMT "': a file name is missing", STR_ARG(arg));
	*ret = s;
	return 0;
}

static struct str base_name(struct str path)
{
	struct str dir, name = path;

	(void)str_cut_last(path, '/', &dir, &name);
	return name;
}

static bool by_name(struct str path, enum format *ret)
{
	static const struct {
		const char *start, *end;
		enum format format;
	} names[] = {
		{ "creel", ".json5", FORMAT_CREEL },
		{ "openclaw", ".json", FORMAT_OPENCLAW },
		{ "openclaw", ".json5", FORMAT_OPENCLAW },
		{ "allowlist", ".json", FORMAT_ALLOWLIST },
		{ "appsettings", ".json", FORMAT_OPENCLAW_NET },
	};
	struct str name = base_name(path);

	if (str_ends(path, STR(".athena/settings.yaml")) || str_ends(path, STR(".athena/settings.yml"))) {
		*ret = FORMAT_ATHENA;
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (str_starts(name, str_z(names[i].start)) && str_ends(name, str_z(names[i].end))) {
			*ret = names[i].format;
			return true;
		}
	}
	return false;
}

static bool looks_like_yaml(struct str path, struct str text)
{
	struct str s = str_trim(text);

	if (str_ends(path, STR(".yaml")) || str_ends(path, STR(".yml")))
		return true;
	if (str_ends(path, STR(".json")) || str_ends(path, STR(".json5")))
		return false;
	return s.n && s.p[0] != '{' && s.p[0] != '[' && s.p[0] != '/';
}

static bool has_any(const struct value *root, const char *const *keys)
{
	for (; *keys; keys++)
		if (value_get(root, str_z(*keys)))
			return true;
	return false;
}

static bool has_openclaw_net(const struct value *root)
{
	for (size_t i = 0; i < root->obj.n; i++)
		if (str_eq_nocase(root->obj.m[i].key, STR("openclaw")) ||
		    str_starts(root->obj.m[i].key, STR("OpenClaw:")))
			return true;
	return false;
}

/* channel -> rows of agent and chat_id, and nothing else */
static bool is_allowlist(const struct value *root)
{
	for (size_t i = 0; i < root->obj.n; i++)
		if (root->obj.m[i].v.kind != VALUE_ARR)
			return false;
	return root->obj.n > 0 && value_get(root, STR("telegram"));
}

static enum format by_json(const struct value *root)
{
	static const char *const ours[] = { "version",  "profile", "import",  "compat",  "athena",
					    "identity", "mode",    "backend", "network", "mounts",
					    "limits",   "sync",    "serve",   "audit",   NULL };
	static const char *const paths[] = { "agents.defaults",  "agents.list",         "agents.entries",
					     "agents.ownership", "tools.sandbox.tools", NULL };
	static const char *const theirs[] = { "session",  "gateway", "channels", "models", "$include",
					      "bindings", "plugins", "meta",     "wizard", NULL };

	if (has_any(root, ours))
		return FORMAT_CREEL;
	if (is_allowlist(root))
		return FORMAT_ALLOWLIST;
	if (has_openclaw_net(root))
		return FORMAT_OPENCLAW_NET;
	for (size_t i = 0; paths[i]; i++)
		if (value_path(root, paths[i]))
			return FORMAT_OPENCLAW;
	return has_any(root, theirs) ? FORMAT_OPENCLAW : FORMAT_CREEL;
}

static bool is_ansible(const struct value *root)
{
	for (size_t i = 0; i < root->obj.n; i++)
		if (str_starts(root->obj.m[i].key, STR("sandbox_")) ||
		    str_eq(root->obj.m[i].key, STR("docker_enabled")))
			return true;
	return false;
}

bool load_detect(struct load *l, struct str path, struct str text, enum format *ret, struct value **ret_root)
{
	const struct origin o = { .kind = ORIGIN_FILE, .name = path, .line = 1, .col = 1 };
	bool yaml = looks_like_yaml(path, text);

	if (by_name(path, ret))
		return (*ret_root = load_parse(l, path, text, *ret)) != NULL;
	/* Parsed as the stricter format of its kind, so that what is found may also be the stricter one. */
	*ret_root = load_parse(l, path, text, yaml ? FORMAT_ANSIBLE : FORMAT_CREEL);
	if (!*ret_root)
		return false;
	if ((*ret_root)->kind == VALUE_OBJ && !yaml) {
		*ret = by_json(*ret_root);
		return true;
	}
	if ((*ret_root)->kind == VALUE_OBJ &&
	    (is_ansible(*ret_root) || value_get(*ret_root, STR("sandbox")))) {
		*ret = is_ansible(*ret_root) ? FORMAT_ANSIBLE : FORMAT_ATHENA;
		return true;
	}
	diag_add(
		l->diags, SEVERITY_ERROR, "unknown_format", &o, (struct str){ 0 },
		"not recognised as any format, accepted: creel, athena, openclaw, allowlist, openclaw-net or ansible");
	diag_fix(l->diags, "say which: FORMAT:" STR_FMT, STR_ARG(path));
	return false;
}
