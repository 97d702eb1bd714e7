"""The table used by the examples in this folder: help-desk tickets, each with its tags.

The table is generated from sentences, so every clone has it, and it is as untidy as real tables:
rows have one subject or two, some tags are missing, and one column carries no information.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

# The tags of a subject, what it is about, and what is wrong with it.
SUBJECTS = [
    (
        "network;wifi",
        ["The wifi in {room}", "The wireless network", "The wifi on my {device}"],
        ["drops every few minutes", "is very slow", "gives me no address", "is gone again"],
    ),
    (
        "network;vpn",
        ["The VPN", "VPN from home", "The VPN on my {device}"],
        ["disconnects during calls", "does not reach the shared drive", "hangs", "is very slow"],
    ),
    (
        "network;vpn;password",
        ["The VPN", "VPN from home"],
        ["refuses my password", "asks for the password again and again"],
    ),
    (
        "network;phone",
        ["The desk phone in {room}", "My extension", "The phone of {person}"],
        ["has no connection", "has no dial tone", "does not ring"],
    ),
    (
        "printer;paper",
        ["The printer in {room}", "Our printer", "Tray two of the printer"],
        ["jams on every second page", "has paper stuck in it", "takes no thick paper"],
    ),
    (
        "printer;toner;purchase",
        ["The printer in {room}", "Our printer", "The colour printer"],
        ["is out of toner, please order some", "prints pale and needs a new cartridge"],
    ),
    (
        "account;password",
        ["The login of {person}", "My account", "The account of {person}"],
        ["is locked after three wrong passwords", "needs a new password", "takes no password"],
    ),
    (
        "account;email;new starter",
        ["{person}, who starts on Monday,", "Our trainee", "A new colleague"],
        ["needs an account and a mailbox", "has no login and no mail address yet"],
    ),
    (
        "laptop;new starter;purchase",
        ["{person}, who starts on Monday,", "Our trainee", "A new colleague"],
        ["needs a laptop, please order one", "has no laptop yet"],
    ),
    (
        "email;calendar",
        ["The calendar of {person}", "My calendar", "The calendar in the mail program"],
        ["shows no meetings", "loses invitations", "is one hour late"],
    ),
    (
        "email;security",
        ["A mail from {person}", "A strange mail", "An attachment in my mailbox"],
        ["looks like phishing", "asks for my bank details", "may hold a virus"],
    ),
    (
        "laptop;battery",
        ["The battery of my laptop", "My laptop on battery"],
        ["lasts ten minutes", "gets very hot", "is not charging"],
    ),
    (
        "laptop;screen",
        ["The screen of my laptop", "My laptop's display"],
        ["flickers", "has a crack", "stays black"],
    ),
    (
        "screen;purchase",
        ["A second screen for {room}", "A larger display for {person}"],
        ["would help, please order one", "was promised, please buy it"],
    ),
    (
        "software;update",
        ["The update of the accounting program", "The update of the drawing program"],
        ["fails at ninety percent", "never ends", "asks for a restart every hour"],
    ),
    (
        "software;update;security",
        ["The security update", "The virus scanner"],
        ["blocks my {device}", "asks for a restart every hour", "was not installed"],
    ),
    (
        "software;licence;purchase",
        ["Our licence for the drawing program", "The licence of the spreadsheet program"],
        ["ends on Friday, please renew it", "is for two people and we are three"],
    ),
    (
        "phone;security",
        ["My work phone", "The mobile phone of {person}"],
        ["was stolen, please lock it", "was lost on the train"],
    ),
]
BEFORE = ["Hello,", "Hi all,", "Good morning.", "Dear colleagues,", ""]
AFTER = ["Thanks!", "Can somebody help?", "It worked last week.", "Best, {person}", ""]
URGENT = ["This is urgent, customers are waiting.", "We cannot work, please come now."]
WORDS = {
    "room": ["room 12", "the meeting room", "the front office", "the workshop", "room 204"],
    "person": ["Amira", "Jonas", "our new accountant", "Ms Okafor", "Pavel"],
    "device": ["laptop", "phone", "desktop"],
}
SITES = ["north", "south", "harbour"]
SECOND_SUBJECT, IS_URGENT, FORGOTTEN = 0.35, 0.2, 0.04  # how often


def write_tickets(path: Path, n_rows: int = 400, seed: int = 0) -> Path:
    """Write a CSV file with the columns id, site, body and tags, and return its path."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "site", "body", "tags"])
        for number in range(1, n_rows + 1):
            count = 2 if rng.random() < SECOND_SUBJECT else 1
            subjects = [SUBJECTS[k] for k in rng.choice(len(SUBJECTS), count, replace=False)]
            tags = {tag for names, _, _ in subjects for tag in names.split(";")}
            troubles = [f"{rng.choice(what)} {rng.choice(wrong)}." for _, what, wrong in subjects]
            sentences = [rng.choice(BEFORE), *troubles]
            if rng.random() < IS_URGENT:
                tags.add("urgent")
                sentences.append(rng.choice(URGENT))
            sentences.append(rng.choice(AFTER))
            words = {slot: rng.choice(choices) for slot, choices in WORDS.items()}
            body = " ".join(sentence for sentence in sentences if sentence).format(**words)
            kept = [tag for tag in sorted(tags) if rng.random() >= FORGOTTEN]
            writer.writerow([f"T{number:04d}", rng.choice(SITES), body, ";".join(kept)])
    return path
