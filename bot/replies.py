"""Every sentence that a person can read on Telegram."""

from __future__ import annotations

START = (
    "Hello{name}! I'm an assistant that never loses the thread: I write down what we talk about before I answer, "
    "and I pick it up again after a break or a restart.\n\n"
    "Just write to me. /help shows what else I can do."
)
START_OFFLINE = (
    "\n\nThere's no language model behind me right now, so I keep things simple: I note what you tell me, find it "
    "again, and keep track of what's still open. If I can't do something, I'll say so."
)
HELP_HEAD = "What I can do:"
HELP_TAIL = "Anything else you write is just a message to me."

COMMANDS = {
    "start": "say hello",
    "help": "what I can do",
    "fresh": "start fresh; I won't bring up anything from earlier",
    "continue": "pick up an earlier conversation",
    "sessions": "our conversations, newest first",
    "settings": "how I bring up earlier conversations",
    "persona": "who I am to you",
    "stop": "stop the answer I'm writing",
    "retry": "answer your last message again",
    "remind": "have me remind you of something",
    "reminders": "your upcoming reminders",
    "move": "move a reminder: /move 2 to 6pm",
    "repeat": "make a reminder repeat: /repeat 2 every Monday",
    "cancel": "cancel a reminder: /cancel 2",
    "timezone": "your time zone",
    "loops": "what's still open",
    "memory": "what I remember; /memory <words> searches it",
    "forget": "forget a fact, a message, a conversation or everything",
    "export": "everything I keep here, as a file",
    "context": "what my last answer was based on",
    "summary": "what this conversation was about",
    "status": "where we are: what's open, remembered and coming up",
    "privacy": "what's stored, where, and how to delete it",
}

FRESH = "Fresh start: I won't bring up anything from earlier.\n/continue takes you back whenever you like."
FRESH_FIRST = "This is already a fresh start: we haven't talked here before."
NO_SESSIONS = "We don't have any earlier conversations here yet. Just write to me, and this will be the first."
CONTINUE_HEAD = "Which conversation shall we pick up?"
CONTINUE_ONLY = "There's only the conversation we're in. /fresh starts another one."
CONTINUED = "We're back in: {title} ({turns}, last {ago}).\nGo ahead whenever you like."
CONTINUED_LAST = "\n\nThe last thing you wrote there: “{user}”"
SESSIONS_HEAD = "Our conversations here:"
SESSIONS_TAIL = "/continue picks one up."
SESSION_GONE = "That conversation isn't there anymore."
CURRENT = "now"
UNTITLED = "no topic yet"

STOPPED = "Stopped. I didn't keep any of that answer."
NOTHING_TO_STOP = "I'm not writing anything right now."
NOTHING_TO_RETRY = "There's no message of yours I could answer again."

PRIVACY = (
    "What I store: what you write to me, what I answer, what I noted from it, and your reminders. "
    "It stays in one database and its checkpoint files, on the machine of whoever runs this bot.\n\n"
    "What I don't store: anything from people who aren't allowed to use me, and in groups anything that isn't "
    "addressed to me.\n\n"
    "It's yours: /memory shows what I noted, /export sends you everything, /forget deletes it for good.\n\n"
    "{model}"
)
PRIVACY_OFFLINE = "No language model is connected: nothing leaves that machine except these messages, through Telegram."
PRIVACY_MODEL = (
    "To answer you, I send your message and the parts of the past that matter to the language model “{model}”."
)

STRANGER = "Sorry, this is a private assistant, and you're not on its list."
STRANGER_PAIRING = "This assistant isn't set up yet. If it's yours, send me the pairing code from its console."
PAIRED = "We're paired: from now on I'm yours. /help shows what I can do."

UNKNOWN_COMMAND = "I don't know /{command}. /help shows what I can do."
UNKNOWN_COMMAND_LIKE = "I don't know /{command}. Did you mean /{like}? /help shows everything I can do."
MEANT_COMMANDS = {
    "reset": "fresh",
    "clear": "fresh",
    "restart": "fresh",
    "resume": "continue",
    "back": "continue",
    "delete": "forget",
    "erase": "forget",
    "undo": "forget",
    "notes": "memory",
    "memories": "memory",
    "remember": "memory",
    "todo": "loops",
    "todos": "loops",
    "tasks": "loops",
    "open": "loops",
    "reminder": "reminders",
    "alarm": "remind",
    "tz": "timezone",
    "time": "timezone",
    "history": "sessions",
    "chats": "sessions",
    "model": "context",
    "tokens": "context",
    "usage": "context",
    "mode": "settings",
    "language": "settings",
    "about": "privacy",
    "download": "export",
    "again": "retry",
    "regenerate": "retry",
    "halt": "stop",
    "hilfe": "help",
    "ayuda": "help",
    "aide": "help",
    "ajuda": "help",
}
UNREADABLE = "I couldn't read that: it came in a form I don't know. Could you send it again as plain text?"
ONLY_TEXT = "I can't read {what} yet. Could you put it into words?"
MEDIA_NAMES = {
    "photo": "pictures",
    "sticker": "stickers",
    "voice": "voice messages",
    "video_note": "video messages",
    "video": "videos",
    "animation": "GIFs",
    "audio": "audio",
    "document": "files",
    "location": "locations",
    "contact": "contacts",
    "poll": "polls",
    "story": "stories",
    "gift": "gifts",
    "message": "that kind of message",
    "unique_gift": "gifts",
}
MEDIA_OTHER = "{what} messages"

MODEL_DOWN = "I couldn't get an answer just now: {why} Your message is safe."
WHY_TIMEOUT = "the language model didn't reply in time."
WHY_BUSY = "the language model is overloaded."
WHY_BROKEN = "the connection to the language model failed."
WHY_GARBAGE = "the language model sent something I can't read."
WHY_ENDLESS = "the language model kept using its tools instead of answering."
WHY_REFUSED = "the language model refused the request; whoever runs me should check the key and the model's name."
WHY_TOO_FAST = "that's a lot at once; give me a minute."
WHY_BUDGET = "today's budget for the language model is used up; there's a new one at midnight."
TRY_AGAIN = "Try again"
TOO_LONG = (
    "That was a lot at once: I read the beginning and the end, {read} of {whole} characters. "
    "If the middle matters, send it to me in smaller pieces."
)
STORAGE_REFUSED = "I couldn't save that, so I've left it undone. Your message is safe."
STORAGE_DOWN = "I can't save anything just now, so I can't answer. I'll do it as soon as I can; no need to write again."

INTERRUPTED = "I was answering this when I was interrupted, {ago}:\n“{text}”\n\nWould you like an answer now?"
ANSWER_NOW = "Answer now"
SKIP = "Skip"
FRESH_START = "Fresh start"
SKIPPED = "Skipped."
QUARANTINED = "I couldn't process this after several tries, so I set it aside. Could you rephrase it?"
EDITED = "You changed a message I've already answered."
ANSWER_AGAIN = "Answer again"

REMINDER = "⏰ {title}"
FOLLOW_UP = "🔔 As promised, I'm coming back to this: {title}"
WAS_DUE = "was due {ago}"
REMIND_HOW = (
    "Tell me when and what, for example:\n"
    "/remind tomorrow at 9 call Ana\n"
    "/remind in 20 minutes take the pizza out\n"
    "/remind on 12 December at 18:30 book the table\n\n"
    "Plain words work too: “remind me on Friday to send the report”. /reminders shows what's coming up.\n"
    "Your time zone is {zone}, where it's {when}. /timezone changes it."
)
REMIND_UNCLEAR = (
    "I'm not sure when you mean, so I haven't set anything: “{said}”\n"
    "Could you give me a time? For example: /remind tomorrow at 9 call Ana"
)
REMIND_NO_WHAT = "What should I remind you of {when}? Tell me both at once, for example: /remind tomorrow at 9 call Ana"
REMIND_TOOL = "The reminder is set for {when} ({zone}): {title}"
REMINDERS_HEAD = "Coming up:"
REMINDERS_LATE = "⏰ These are due:"
REMINDERS_MORE = "… and {count} more"
REMINDERS_NONE = "Nothing's planned. To set a reminder: /remind tomorrow at 9 call Ana"
REMINDER_DONE = "Done"
REMINDER_HOUR = "Snooze 1 h"
REMINDER_TOMORROW = "Tomorrow"
REMINDER_CANCEL = "Cancel"
REMINDER_DONE_TEXT = "Done: {title}"
REMINDER_SNOOZED_TEXT = "I'll remind you again {when}: {title}"
REMINDER_GONE = "That reminder is already over."
CHANGE_HOW = {
    "cancel": "Which reminder? /cancel 2 or /cancel dentist. /reminders lists them.",
    "move": "Which reminder, and to when? /move 2 to 6pm or /move dentist to Friday. /reminders lists them.",
    "repeat": "Which reminder, and how often? /repeat 2 every Monday at 9. /reminders lists them.",
}
ZONE_IS = "Your time zone is {zone}, where it's {now}.\nTo change it, tell me a city or a zone: /timezone Europe/Berlin"
ZONE_SET = "Your time zone is now {zone}, where it's {now}. Reminders you've already set keep their time."
ZONE_UNKNOWN = "I don't know the time zone “{said}”. Try it like this: /timezone Europe/Berlin, or /timezone New York"

PART_LOST = "I couldn't send a part of what I had to say: Telegram wouldn't take it. /retry asks me for it again."
TAP_TOO_OLD = "This button is too old; please ask again."
TAP_USED = "You've already chosen."
TAP_NOT_YOURS = "This button is for somebody else."
TAP_DONE = "Done"

# --- carrying context forward -----------------------------------------------------------------------------------------

CARRY_ON = "Continue"
START_FRESH = "Start fresh"
ALWAYS = "Always do this"
GO_ON = "Go on"
EDIT = "Edit"
BACK = "Back"
DROP = "✕ {title}"
ANSWER_WAITS = "I'll answer your message right after you choose."
CARRY_FORWARD = "Carry this forward"
CARRY_HEAD = "I can carry this forward:"
CARRYING = "Carrying this forward:"
NOTHING_LEFT = "Okay, nothing gets carried forward."
OFFER_PASSED = "I went on without bringing up anything from earlier. /continue shows it whenever you like."
OFFER_OVER = "We've moved on since. /continue shows what I can carry forward now."
CONTINUE_HEAD_TOO = "Or shall we pick up one of these conversations?"

SETTINGS = (
    "When a new conversation begins: {choice}\n\n"
    "This goes for the persona “{persona}”; /persona shows the others.\nYour time zone: {zone}"
)
SETTINGS_MODES = {
    "ask": "I ask whether to carry earlier context forward.",
    "use": "I carry earlier context forward.",
    "off": "I don't carry anything forward. /continue still works.",
}
SETTINGS_LABELS = {"ask": "Ask", "use": "Use", "off": "Off"}
SETTINGS_PREVIEW_ON = "I show you what it is first."
SETTINGS_PREVIEW_OFF = "I don't show it first."
SETTINGS_SKIP = "Skip the preview"
CHOSEN = "✓"
ONLY_PEOPLE = "I can't see who you are here, so there's nothing to choose."
PERSONA_HEAD = "I can be:"
PERSONA_LINE = "• {name}: {tone}{now}"
PERSONA_NOW = " (now)"
PERSONA_TAIL = "The change starts with my next answer."

# --- where things stand ---------------------------------------------------------------------------------------------

STATUS_TITLE = "We're talking about: {title} ({turns})."
STATUS_NO_TITLE = "We're chatting ({turns} so far). /summary sums it up."
STATUS_NEW = "We've only just begun here."
STATUS_OPEN = "Open: {count} (/loops)"
STATUS_NOTHING_OPEN = "Open: nothing"
STATUS_KNOWN = "Remembered: {things} (/memory)"
STATUS_JOBS = "Reminders: {count}, next {when}: {title} (/reminders)"
STATUS_NO_JOBS = "Reminders: none"
STATUS_TAIL = "/summary says what this conversation was about, /context what my last answer was based on."

# --- open loops -----------------------------------------------------------------------------------------------------

LOOPS_HEAD = "Still open:"
LOOPS_NONE = "Nothing's open: no promises, no questions, no tasks."
LOOPS_MORE = "… and {count} more; they show up once these are settled."
QUOTED = "“{text}”"
LOOP_YOURS = "yours"
LOOP_MINE = "mine"
LOOP_DUE = "due {when}"
LOOP_OVERDUE = "overdue"
LOOP_SNOOZED = "snoozed, back {when}"
LOOP_DONE = "Done"
LOOP_SNOOZE = "Snooze"
LOOP_DROP = "Drop"
LOOP_GONE = "That's not on my list anymore. /loops shows what is."

# --- memory ---------------------------------------------------------------------------------------------------------

MEMORY_KINDS = {"fact": "Fact", "preference": "Preference", "decision": "Decision"}
MEMORY_HEAD = "Here's what I remember:"
MEMORY_HEAD_GROUP = "Here's what I remember from this group:"
MEMORY_NONE = (
    "I haven't noted anything lasting yet. When you tell me a fact, a preference or a decision, it shows up here."
)
MEMORY_NONE_GROUP = (
    "I haven't noted anything lasting in this group yet. What you tell me in private never shows up here."
)
MEMORY_FOUND = "Here's what I remember about “{words}”:"
MEMORY_NOT_FOUND = "I don't remember anything about “{words}”. /memory lists everything."
MEMORY_MORE = "… and {count} more."
SHOW_MORE = "Show more"
FORGET_NUMBER = "Forget {number}"

UNDO_GONE = "That message isn't here anymore, so there's nothing to take back."

# --- forgetting -----------------------------------------------------------------------------------------------------

FORGET_MENU = (
    "What should I forget?\n"
    "To forget one thing, write /forget and a word or two from it, for example: /forget my address\n"
    "After a list, its number will do: /forget 2"
)
FORGET_LAST = "My last message and your answer"
FORGET_SESSION = "This conversation"
FORGET_ALL = "Everything here"
NEVER_MIND = "Never mind"
FORGET_YES = "Yes, forget it"
FORGET_ASK = {
    "last": "Should I forget your last message and my answer to it?",
    "session": "Should I forget this whole conversation, with everything I noted from it?",
    "everything": "Should I forget everything we ever said here: all conversations, notes, summaries and reminders?",
    "found": "Should I forget this? The messages it was said in go with it, and so do my answers to them.",
}
FORGET_ASK_GROUP = {
    "last": FORGET_ASK["last"],
    "session": "Should I forget what you said in this conversation? What others said stays.",
    "everything": "Should I forget everything you ever said here? What others said stays.",
    "found": FORGET_ASK["found"],
}
FORGET_GOES_HEAD = "Here's what would go:"
FORGET_GOES_SAID = "• your message “{text}” and my answer to it"
FORGET_GOES_NOTE = "• what I noted: {text}"
FORGET_GOES_REMINDER = "• the reminder “{text}”"
FORGET_GOES_MORE = "• … and {count} more"
FORGET_GOES_COUNTED = "That's {what}."
FORGET_GONE = "That's gone already. /memory shows what's left."
FORGET_NOT_ON_LIST = (
    "There's no number {number} on the list I showed you last. /memory shows what I remember, numbered."
)
FORGET_IS_REMINDER = "Number {number} on that list is a reminder. /reminders lets you cancel it."
FORGET_FINAL = (
    "\n\nThis can't be undone. Reminders you set there are cancelled. Only you can delete what "
    "Telegram itself shows in this chat, and I can't reach backups made before."
)
FORGET_FOUND = "Here's where “{words}” comes up:"
FORGET_FOUND_MORE = "… and {count} more."
FORGET_ALL_FOUND = "All {count} of them"
FORGET_SAID = "A message and its answer: “{text}”"
FORGET_NOT_FOUND = "I can't find anything about “{words}” here, so there's nothing to forget."
FORGET_NOTHING_HERE = "There's nothing to forget here: we haven't said anything yet."
FORGET_REFUSED = (
    "I couldn't forget anything: one of my files can't be deleted just now. It's all still there. "
    "Whoever runs me will find the reason in the log; then please ask me again."
)
FORGET_KEPT = "Okay, I haven't forgotten anything."
FORGOTTEN = "Forgotten: {what}."
FORGOTTEN_NOTHING = "nothing, it was already gone"
FORGOTTEN_LOOKING = "I'm checking whether my files hold any trace of it …"
FORGOTTEN_PROVEN = "Checked: no trace in {files}."
FORGOTTEN_TRACES = (
    "It's deleted, but another program is reading my files, so there are still traces in them. "
    "They'll be gone after my next start."
)
FORGOTTEN_ASIDE = (
    "A copy of my data from before a backup was restored ({names}) is still there, and it may hold this. "
    "Whoever runs me can delete it."
)
FORGOTTEN_ECHOES = "{count} of mine still repeat some of it:"
FORGET_THOSE_TOO = "Forget those too"
FORGOTTEN_UNKNOWN = "It's deleted, but I couldn't check my files in time."

# --- export ---------------------------------------------------------------------------------------------------------

EXPORT_CAPTION = "Everything I keep about this chat, as JSON: {what}."
EXPORT_GROUP = (
    "In this group, everybody could read a file with your words. Whoever runs me can make one with "
    "`continuity-bot export`; in our private chat, /export sends you what I keep there."
)
EXPORT_NOTHING = "I don't keep anything here yet, so there's nothing to export."
EXPORT_TOO_BIG = (
    "That's more than Telegram lets me send. Whoever runs me can write it to a file with `continuity-bot export`."
)
EXPORT_FAILED = "I couldn't send the file just now ({why}). Please ask me again later."

# --- the receipt ----------------------------------------------------------------------------------------------------

TIER_NAMES = {
    "history": "Messages as they were",
    "summary": "Summary",
    "retrieved": "Found in the past",
    "today": "Earlier today",
    "threads": "Still open",
    "last_conversation": "Last conversation",
}
TIER_ITEMS = {
    "history": "message",
    "summary": "note",
    "retrieved": "result",
    "today": "note",
    "threads": "item",
    "last_conversation": "note",
}
TIER_CUT = "{items} left out ({tokens} tokens)"
TIER_FAILED = "couldn't be read, so I left it out"
CONTEXT_HEAD = "What I looked at for my last answer ({ago}), in tokens:"
CONTEXT_BESIDE = (
    "On top of that: instructions {instructions}, tools {tools}, carried forward {carried}, your message {message}."
)
CONTEXT_READING = "For my notes, the model read this conversation {times}: {tokens} tokens, {kept} notes kept."
CONTEXT_TOTAL = "{bar} Together: {total} of {cap}"
CONTEXT_NONE = "I haven't answered anything in this conversation yet."
COMPACTED = (
    "Messages {first} to {last} went into the summary {ago}, {how}: {before} tokens became {after}. "
    "I still have them word for word."
)
COMPACTION_METHODS = {
    "deterministic": "written by rules",
    "model": "written by a model and checked",
    "truncation": "left out without a summary",
}
COMPACTION_UNDO = "Undo: use them word for word again"
COMPACTION_UNDONE = "Undone: I see those messages word for word again, as far as there's room."
COMPACTION_GONE = "That's already been undone or replaced. /context shows how it is now."
SUMMARY_HEAD = "This conversation{title} ({turns})"
SUMMARY_MATTERS = "What's going on:"
SUMMARY_TOLD = "What you told me:"
SUMMARY_SETTLED = "Settled since:"
SUMMARY_TALK = "There's nothing to sum up yet: we've only had {turns} so far, and I still have them word for word."
SUMMARY_NONE = "We haven't said anything in this conversation yet, so there's nothing to sum up."


def plural(count: int, word: str) -> str:
    """Return `1 turn`, `2 turns`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def ago(elapsed_ms: int) -> str:
    """Return how long ago something was, in the largest sensible unit."""
    seconds = max(0, elapsed_ms) // 1000
    for length, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length:
            return f"{plural(seconds // length, word)} ago"
    return "just now"


def shorten(text: str, max_chars: int = 120) -> str:
    """Return the text on one line, cut at a word with an ellipsis when it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rsplit(" ", 1)[0] + "…"


def help_text(commands: dict[str, str]) -> str:
    """Return the list of commands for /help."""
    lines = [f"/{name} - {what}" for name, what in commands.items()]
    return "\n".join([HELP_HEAD, *lines, "", HELP_TAIL])
