/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of channels: openclaw_keys_chat.c has what several share, its neighbours the channels by their names. */
#pragma once

#include "config/openclaw_shape_priv.h"

extern const struct shape oc_chat_a2a, oc_chat_buzz, oc_chat_clickclack, oc_chat_discord, oc_chat_feishu,
	oc_chat_googlechat, oc_chat_imessage, oc_chat_irc, oc_chat_line, oc_chat_matrix, oc_chat_mattermost,
	oc_chat_msteams, oc_chat_nextcloud_talk, oc_chat_nostr, oc_chat_raft, oc_chat_reef, oc_chat_signal,
	oc_chat_slack, oc_chat_sms, oc_chat_synology_chat, oc_chat_telegram, oc_chat_tlon, oc_chat_twitch,
	oc_chat_whatsapp, oc_chat_zalo, oc_chat_zalouser;
extern const struct shape oc_chat_one_dms, oc_chat_one_guilds_tools_by_sender,
	oc_chat_one_voice_realtime_providers, oc_chat_one_groups;
extern const struct shape_key oc_chat_markdown_keys[], oc_chat_bot_loop_protection_keys[],
	oc_chat_mention_patterns_keys[], oc_chat_dms_keys[], oc_chat_streaming_preview_chunk_keys[],
	oc_chat_streaming_preview_keys[], oc_chat_streaming_progress_keys[],
	oc_chat_streaming_block_coalesce_keys[], oc_chat_streaming_block_keys[], oc_chat_streaming_keys[],
	oc_chat_heartbeat_visibility_keys[], oc_chat_health_monitor_keys[], oc_chat_commands_keys[],
	oc_chat_guilds_tools_keys[], oc_chat_thread_bindings_keys[], oc_chat_streaming_keys_too[],
	oc_chat_groups_keys[], oc_chat_network_keys[], oc_chat_streaming_progress_keys_too[],
	oc_chat_exec_approvals_keys[], oc_chat_implicit_mentions_keys[];
