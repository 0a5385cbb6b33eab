"""The lists of one person who speaks four languages, as they are read: a line that reads wooden here is to be mended.

Whoever changes a line on purpose reads all of them aloud and writes them down anew.
"""

from __future__ import annotations

import pytest

from bot import replies
from bot.features.lists import PAGE, Listing, page
from bot.features.loops import loop_list
from bot.features.memories import memory_list
from bot.features.reminders import reminder_list
from memory.ledger import series
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Add, Applied, Ledger, Occurrence

ZONE = "Europe/Berlin"
LANGUAGES = ("en", "de", "es", "fr")


def at_ms(text: str) -> int:
    return series.at_ms_of(text if "T" in text else f"{text}T00:00", ZONE)


NOW_MS = at_ms("2026-11-26T10:00")  # a Thursday


def due(text: str, to: str = "") -> dict:
    ends = {"ends_at_ms": at_ms(to)} if to else {}
    return {"due_at_ms": at_ms(text), "due_exact": "T" in text, **ends}


def ring(local: str, repeats: str = "", *dates: Occurrence) -> dict:
    return {"rings_from": local, "repeats": repeats, "occurrences": dates}


def occ(local: str, state: str, to: str = "") -> Occurrence:
    return Occurrence(original_local=local, state=state, moved_to_ms=at_ms(to) if to else None)


NOTES = [
    (
        "fact",
        {},
        (
            "Your bakery is called The Loaf, in Leeds",
            "Deine Bäckerei heißt Krume, in Bonn",
            "Tu panadería se llama Miga, en Vigo",
            "Ta boulangerie s'appelle La Mie, à Lyon",
        ),
    ),
    (
        "person",
        {},
        (
            "Ana is your sister and lives in Lisbon",
            "Ana ist deine Schwester und wohnt in Lissabon",
            "Ana es tu hermana y vive en Lisboa",
            "Ana est ta sœur et habite à Lisbonne",
        ),
    ),
    (
        "preference",
        {},
        (
            "No phone calls before ten",
            "Keine Anrufe vor zehn",
            "Nada de llamadas antes de las diez",
            "Pas d'appels avant dix heures",
        ),
    ),
    (
        "constraint",
        {},
        (
            "Dad must not hear of the party",
            "Papa darf nichts von der Feier erfahren",
            "Papá no debe enterarse de la fiesta",
            "Papa ne doit rien savoir de la fête",
        ),
    ),
    (
        "constraint",
        {"owner": "Mila"},
        ("No nuts for Mila", "Keine Nüsse für Mila", "Nada de frutos secos para Mila", "Pas de noix pour Mila"),
    ),
    (
        "decision",
        {},
        (
            "The kitchen gets grey tiles",
            "Die Küche bekommt graue Fliesen",
            "La cocina llevará azulejos grises",
            "La cuisine aura des carreaux gris",
        ),
    ),
    (
        "project",
        due("2026-12-08"),
        (
            "New oven for the shop",
            "Neuer Ofen für den Laden",
            "Horno nuevo para la tienda",
            "Nouveau four pour la boutique",
        ),
    ),
    (
        "event",
        due("2026-11-26T14:30") | ring("2026-11-26T13:45"),
        ("Owen looks at the oven", "Owen schaut sich den Ofen an", "Owen mira el horno", "Owen regarde le four"),
    ),
    (
        "event",
        due("2026-11-27T07:30") | ring("2026-11-27T06:00"),
        (
            "Early shift at the café, be there at 6:45",
            "Frühschicht im Café, um 6:45 da sein",
            "Turno de mañana en el café (llegar a las 6:45)",
            "Service du matin au café (y être à 6h45)",
        ),
    ),
    (
        "event",
        due("2026-12-14"),
        (
            "Mrs Keller's wedding cake, 3 tiers, lemon",
            "Hochzeitstorte für Frau Keller, 3 Etagen, Zitrone",
            "Tarta de boda de la señora Keller, 3 pisos, limón",
            "Gâteau de mariage de Mme Keller, 3 étages, citron",
        ),
    ),
    (
        "event",
        due("2026-12-08T18:00"),
        (
            "Parents' evening on 8 December",
            "Elternabend am 8. Dezember",
            "Reunión de padres el 8 de diciembre",
            "Réunion de parents le 8 décembre",
        ),
    ),
    ("event", due("2026-11-19T08:00"), ("Shift at the café", "Schicht im Café", "Turno en el café", "Service au café")),
    ("event", due("2026-11-25T18:00"), ("Choir rehearsal", "Chorprobe", "Ensayo del coro", "Répétition de la chorale")),
    (
        "event",
        due("2027-02-12", "2027-02-15"),
        (
            "Weekend in Lisbon with Ana",
            "Wochenende in Lissabon mit Ana",
            "Fin de semana en Lisboa con Ana",
            "Week-end à Lisbonne avec Ana",
        ),
    ),
    (
        "task",
        {"owner": "user"},
        (
            "Find a photo for the website",
            "Ein Foto für die Website suchen",
            "Buscar una foto para la web",
            "Trouver une photo pour le site",
        ),
    ),
    (
        "task",
        {"owner": "user"} | due("2026-11-24"),
        ("Pay the chimney sweep", "Den Schornsteinfeger bezahlen", "Pagar al deshollinador", "Payer le ramoneur"),
    ),
    (
        "task",
        {"owner": "user"} | due("2026-12-08"),
        ("Renew the passport", "Den Reisepass verlängern", "Renovar el pasaporte", "Renouveler le passeport"),
    ),
    (
        "task",
        {"owner": "Rui"},
        ("Bring the chairs", "Die Stühle mitbringen", "Traer las sillas", "Apporter les chaises"),
    ),
    ("task", {"owner": "user"} | ring("2026-11-27T09:00"), ("Call Ana", "Ana anrufen", "Llamar a Ana", "Appeler Ana")),
    (
        "task",
        {"owner": "user"} | ring("2026-11-26T08:00", "", occ("2026-11-26T08:00", "rang")),
        ("Put the bins out", "Die Tonnen rausstellen", "Sacar la basura", "Sortir les poubelles"),
    ),
    (
        "task",
        {"owner": "user"} | due("2026-12-01T18:00") | ring("2026-12-01T17:00", "FREQ=WEEKLY;BYDAY=TU"),
        (
            "Flour order at the mill",
            "Mehl in der Mühle bestellen",
            "Pedido de harina al molino",
            "Commande de farine au moulin",
        ),
    ),
    (
        "task",
        {"owner": "user"}
        | ring(
            "2026-11-22T19:00",
            "FREQ=WEEKLY;BYDAY=SU",
            occ("2026-11-22T19:00", "done"),
            occ("2026-11-29T19:00", "moved", "2026-11-29T10:00"),
        ),
        ("Call Grandma", "Oma anrufen", "Llamar a la abuela", "Appeler mamie"),
    ),
    (
        "task",
        {"owner": "user"}
        | ring(
            "2026-11-20T08:00",
            "FREQ=DAILY;UNTIL=20261209T080000",
            occ("2026-11-26T08:00", "done"),
            occ("2026-11-28T08:00", "left_out"),
        ),
        ("Feed Biscuit", "Biscuit füttern", "Dar de comer a Biscuit", "Nourrir Biscuit"),
    ),
    (
        "event",
        {"snoozed_until_ms": at_ms("2026-12-14")} | due("2026-11-24T19:00") | {"repeats": "FREQ=WEEKLY;BYDAY=TU"},
        ("Rugby in the park", "Rugby im Park", "Rugby en el parque", "Rugby au parc"),
    ),
    (
        "task",
        {"owner": "user", "snoozed_until_ms": at_ms("2026-12-01T09:00")},
        ("Sort the photos", "Die Fotos sortieren", "Ordenar las fotos", "Trier les photos"),
    ),
    (
        "promise",
        {"owner": "assistant"},
        (
            "Look for a cheaper flour",
            "Ein günstigeres Mehl suchen",
            "Buscar una harina más barata",
            "Chercher une farine moins chère",
        ),
    ),
    (
        "promise",
        {"owner": "Owen"} | due("2026-11-30T10:00"),
        ("Owen sends the quote", "Owen schickt das Angebot", "Owen manda el presupuesto", "Owen envoie le devis"),
    ),
    (
        "question",
        {"owner": "user"},
        (
            "Which supplier for the eggs?",
            "Welcher Lieferant für die Eier?",
            "¿Qué proveedor para los huevos?",
            "Quel fournisseur pour les œufs ?",
        ),
    ),
    (
        "task",
        {"owner": "assistant"} | ring("2026-11-27T07:30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        (
            "The day ahead: Say what is due today in three lines.",
            "Tagesüberblick: Sag in drei Zeilen, was heute ansteht.",
            "Resumen del día: Di en tres líneas lo que toca hoy.",
            "Programme du jour: Dis en trois lignes ce qui est prévu.",
        ),
    ),
    (
        "task",
        {"owner": "user"} | ring("2026-11-27T05:30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA"),
        ("A word of Italian", "Ein Wort Italienisch", "Una palabra de italiano", "Un mot d'italien"),
    ),
    (
        "event",
        due("2026-12-03T14:00") | ring("2026-12-02T18:00", "", occ("2026-12-03T13:00", "moved", "2026-12-03T13:00")),
        (
            "Mum's eye operation in Annecy",
            "Augenoperation deiner Mutter",
            "Operación de ojo de tu madre",
            "Opération de l'œil de ta maman à Annecy",
        ),
    ),
    (
        "story",
        {"owner": "user", "about": "The captain", "persona": "roleplay", "weight": 0.8},
        (
            "The ship lies off Tortuga",
            "Das Schiff liegt vor Tortuga",
            "El barco está frente a Tortuga",
            "Le navire est au large de Tortuga",
        ),
    ),
]

READ = {
    "en": """\
Still open:

Overdue
1. Pay the chimney sweep (was due on Tue 24 Nov)

Today
2. Put the bins out (reminded at 08:00)

Tomorrow
3. A word of Italian (⏰ every day except Sunday at 05:30)
4. Feed Biscuit (⏰ every day at 08:00 until 9 Dec, not this Saturday)
5. Call Ana (⏰ 09:00)

Sun 29 Nov
6. Call Grandma (⏰ at 10:00 this time, then every Sunday at 19:00)

… and 9 more.

Coming up
Today: Owen looks at the oven (at 14:30, ⏰ 13:45)
Tomorrow: Early shift at the café, be there at 6:45 (at 07:30, ⏰ 06:00)
Thu 3 Dec: Mum's eye operation in Annecy (at 14:00, ⏰ the day before at 18:00 and on the day at 13:00)
Tue 8 Dec: New oven for the shop
Parents' evening on 8 December (at 18:00)
Mon 14 Dec: Mrs Keller's wedding cake, 3 tiers, lemon
More are in /memory.

Tap a number to tick it off, put it off or drop it.
---
Still open:

Mon 30 Nov
7. Owen sends the quote (10:00)

Tue 1 Dec
8. Sort the photos (put off)
9. Flour order at the mill (every Tuesday at 18:00, ⏰ 17:00)

Tue 8 Dec
10. Renew the passport

No date
11. Find a photo for the website
12. Rui: Bring the chairs
13. Look for a cheaper flour (my promise)
14. Which supplier for the eggs?

Story: The captain
15. The ship lies off Tortuga

Tap a number to tick it off, put it off or drop it.
---
Here's what I remember:

Good to know
1. Your bakery is called The Loaf, in Leeds

People
2. Ana is your sister and lives in Lisbon
3. No nuts for Mila

To keep in mind
4. No phone calls before ten
5. Dad must not hear of the party

Decided
6. The kitchen gets grey tiles

… and 10 more.
---
Here's what I remember:

Going on and coming up
7. Owen looks at the oven (today at 14:30, ⏰ 13:45)
8. Early shift at the café, be there at 6:45 (tomorrow at 07:30, ⏰ 06:00)
9. Mum's eye operation in Annecy (on Thu 3 Dec at 14:00, ⏰ the day before at 18:00 and on the day at 13:00)
10. New oven for the shop (Tue 8 Dec)
11. Parents' evening on 8 December (at 18:00)
12. Mrs Keller's wedding cake, 3 tiers, lemon (on Mon 14 Dec)

… and 4 more.
---
Here's what I remember:

Going on and coming up
13. Rugby in the park (every Tuesday at 19:00, paused until Mon 14 Dec)
14. Weekend in Lisbon with Ana (Fri 12 Feb – Mon 15 Feb 2027)

Story: The captain
15. The ship lies off Tortuga

Over
16. Choir rehearsal (was yesterday at 18:00)

What's long over isn't listed here. /memory with a word finds it.
---
Your reminders:

Already rang
1. Put the bins out (today at 08:00)

Today
2. Owen looks at the oven (at 14:30, ⏰ 13:45)

Tomorrow
3. A word of Italian (⏰ every day except Sunday at 05:30)
4. Early shift at the café, be there at 6:45 (at 07:30, ⏰ 06:00)
5. The day ahead (⏰ I'll send it on weekdays at 07:30)
6. Feed Biscuit (⏰ every day at 08:00 until 9 Dec, not this Saturday)

… and 4 more.

Tap a number to tick it off, move it or stop it.
---
Your reminders:

Tomorrow
7. Call Ana (⏰ 09:00)

Sun 29 Nov
8. Call Grandma (⏰ at 10:00 this time, then every Sunday at 19:00)

Tue 1 Dec
9. Flour order at the mill (every Tuesday at 18:00, ⏰ 17:00)

Wed 2 Dec
10. Mum's eye operation in Annecy (on Thu 3 Dec at 14:00, ⏰ the day before at 18:00 and on the day at 13:00)

Tap a number to tick it off, move it or stop it.
""",
    "de": """\
Noch offen:

Überfällig
1. Den Schornsteinfeger bezahlen (war am Di, 24. Nov. fällig)

Heute
2. Die Tonnen rausstellen (um 08:00 erinnert)

Morgen
3. Ein Wort Italienisch (⏰ jeden Tag außer Sonntag um 05:30)
4. Biscuit füttern (⏰ jeden Tag um 08:00 bis 9. Dez., außer diesen Samstag)
5. Ana anrufen (⏰ 09:00)

So, 29. Nov.
6. Oma anrufen (⏰ diesmal um 10:00, dann wieder jeden Sonntag um 19:00)

… und noch 9.

Was noch kommt
Heute: Owen schaut sich den Ofen an (um 14:30, ⏰ 13:45)
Morgen: Frühschicht im Café, um 6:45 da sein (um 07:30, ⏰ 06:00)
Do, 3. Dez.: Augenoperation deiner Mutter (um 14:00, ⏰ am Tag davor um 18:00 und am Tag selbst um 13:00)
Di, 8. Dez.: Neuer Ofen für den Laden
Elternabend am 8. Dezember (um 18:00)
Mo, 14. Dez.: Hochzeitstorte für Frau Keller, 3 Etagen, Zitrone
Weitere stehen in /memory.

Tippe auf eine Nummer, um etwas abzuhaken, zu verschieben oder zu streichen.
---
Noch offen:

Mo, 30. Nov.
7. Owen schickt das Angebot (10:00)

Di, 1. Dez.
8. Die Fotos sortieren (zurückgestellt)
9. Mehl in der Mühle bestellen (jeden Dienstag um 18:00, ⏰ 17:00)

Di, 8. Dez.
10. Den Reisepass verlängern

Ohne Termin
11. Ein Foto für die Website suchen
12. Rui: Die Stühle mitbringen
13. Ein günstigeres Mehl suchen (hab ich versprochen)
14. Welcher Lieferant für die Eier?

Geschichte: The captain
15. Das Schiff liegt vor Tortuga

Tippe auf eine Nummer, um etwas abzuhaken, zu verschieben oder zu streichen.
---
Das habe ich mir gemerkt:

Gut zu wissen
1. Deine Bäckerei heißt Krume, in Bonn

Menschen
2. Ana ist deine Schwester und wohnt in Lissabon
3. Keine Nüsse für Mila

Worauf ich achte
4. Keine Anrufe vor zehn
5. Papa darf nichts von der Feier erfahren

Entschieden
6. Die Küche bekommt graue Fliesen

… und noch 10.
---
Das habe ich mir gemerkt:

Was läuft und was kommt
7. Owen schaut sich den Ofen an (heute um 14:30, ⏰ 13:45)
8. Frühschicht im Café, um 6:45 da sein (morgen um 07:30, ⏰ 06:00)
9. Augenoperation deiner Mutter (am Do, 3. Dez., um 14:00, ⏰ am Tag davor um 18:00 und am Tag selbst um 13:00)
10. Neuer Ofen für den Laden (Di, 8. Dez.)
11. Elternabend am 8. Dezember (um 18:00)
12. Hochzeitstorte für Frau Keller, 3 Etagen, Zitrone (am Mo, 14. Dez.)

… und noch 4.
---
Das habe ich mir gemerkt:

Was läuft und was kommt
13. Rugby im Park (jeden Dienstag um 19:00, Pause bis Mo, 14. Dez.)
14. Wochenende in Lissabon mit Ana (Fr, 12. Feb. – Mo, 15. Feb. 2027)

Geschichte: The captain
15. Das Schiff liegt vor Tortuga

Vorbei
16. Chorprobe (war gestern um 18:00)

Was länger vorbei ist, steht hier nicht mehr. /memory und ein Wort daraus findet es.
---
Deine Erinnerungen:

Schon erinnert
1. Die Tonnen rausstellen (heute um 08:00)

Heute
2. Owen schaut sich den Ofen an (um 14:30, ⏰ 13:45)

Morgen
3. Ein Wort Italienisch (⏰ jeden Tag außer Sonntag um 05:30)
4. Frühschicht im Café, um 6:45 da sein (um 07:30, ⏰ 06:00)
5. Tagesüberblick (⏰ schicke ich montags bis freitags um 07:30)
6. Biscuit füttern (⏰ jeden Tag um 08:00 bis 9. Dez., außer diesen Samstag)

… und noch 4.

Tippe auf eine Nummer, um etwas abzuhaken, zu verschieben oder abzustellen.
---
Deine Erinnerungen:

Morgen
7. Ana anrufen (⏰ 09:00)

So, 29. Nov.
8. Oma anrufen (⏰ diesmal um 10:00, dann wieder jeden Sonntag um 19:00)

Di, 1. Dez.
9. Mehl in der Mühle bestellen (jeden Dienstag um 18:00, ⏰ 17:00)

Mi, 2. Dez.
10. Augenoperation deiner Mutter (am Do, 3. Dez., um 14:00, ⏰ am Tag davor um 18:00 und am Tag selbst um 13:00)

Tippe auf eine Nummer, um etwas abzuhaken, zu verschieben oder abzustellen.
""",
    "es": """\
Todavía pendiente:

Con retraso
1. Pagar al deshollinador (era para el mar 24 de nov)

Hoy
2. Sacar la basura (avisé a las 08:00)

Mañana
3. Una palabra de italiano (⏰ todos los días menos el domingo a las 05:30)
4. Dar de comer a Biscuit (⏰ todos los días a las 08:00 hasta el 9 de dic, menos este sábado)
5. Llamar a Ana (⏰ 09:00)

Dom 29 de nov
6. Llamar a la abuela (⏰ a las 10:00 esta vez, luego cada domingo a las 19:00)

… y 9 más.

Lo que viene
Hoy: Owen mira el horno (a las 14:30, ⏰ 13:45)
Mañana: Turno de mañana en el café (llegar a las 6:45) – a las 07:30, ⏰ 06:00
Jue 3 de dic: Operación de ojo de tu madre (a las 14:00, ⏰ el día antes a las 18:00 y el propio día a las 13:00)
Mar 8 de dic: Horno nuevo para la tienda
Reunión de padres el 8 de diciembre (a las 18:00)
Lun 14 de dic: Tarta de boda de la señora Keller, 3 pisos, limón
Hay más en /memory.

Toca un número para marcarlo como hecho, aplazarlo o quitarlo.
---
Todavía pendiente:

Lun 30 de nov
7. Owen manda el presupuesto (10:00)

Mar 1 de dic
8. Ordenar las fotos (aplazado)
9. Pedido de harina al molino (cada martes a las 18:00, ⏰ 17:00)

Mar 8 de dic
10. Renovar el pasaporte

Sin fecha
11. Buscar una foto para la web
12. Rui: Traer las sillas
13. Buscar una harina más barata (te lo prometí)
14. ¿Qué proveedor para los huevos?

Historia: The captain
15. El barco está frente a Tortuga

Toca un número para marcarlo como hecho, aplazarlo o quitarlo.
---
Esto es lo que recuerdo:

Conviene saber
1. Tu panadería se llama Miga, en Vigo

Personas
2. Ana es tu hermana y vive en Lisboa
3. Nada de frutos secos para Mila

A tener en cuenta
4. Nada de llamadas antes de las diez
5. Papá no debe enterarse de la fiesta

Decidido
6. La cocina llevará azulejos grises

… y 10 más.
---
Esto es lo que recuerdo:

En marcha y por venir
7. Owen mira el horno (hoy a las 14:30, ⏰ 13:45)
8. Turno de mañana en el café (llegar a las 6:45) – mañana a las 07:30, ⏰ 06:00
9. Operación de ojo de tu madre (el jue 3 de dic a las 14:00, ⏰ el día antes a las 18:00 y el propio día a las 13:00)
10. Horno nuevo para la tienda (mar 8 de dic)
11. Reunión de padres el 8 de diciembre (a las 18:00)
12. Tarta de boda de la señora Keller, 3 pisos, limón (el lun 14 de dic)

… y 4 más.
---
Esto es lo que recuerdo:

En marcha y por venir
13. Rugby en el parque (cada martes a las 19:00, en pausa hasta el lun 14 de dic)
14. Fin de semana en Lisboa con Ana (vie 12 de feb – lun 15 de feb de 2027)

Historia: The captain
15. El barco está frente a Tortuga

Ya pasó
16. Ensayo del coro (fue ayer a las 18:00)

Lo que pasó hace tiempo no sale aquí. Con /memory y una palabra lo encuentras.
---
Tus recordatorios:

Ya te lo recordé
1. Sacar la basura (hoy a las 08:00)

Hoy
2. Owen mira el horno (a las 14:30, ⏰ 13:45)

Mañana
3. Una palabra de italiano (⏰ todos los días menos el domingo a las 05:30)
4. Turno de mañana en el café (llegar a las 6:45) – a las 07:30, ⏰ 06:00
5. Resumen del día (⏰ lo mando entre semana a las 07:30)
6. Dar de comer a Biscuit (⏰ todos los días a las 08:00 hasta el 9 de dic, menos este sábado)

… y 4 más.

Toca un número para marcarlo como hecho, moverlo o pararlo.
---
Tus recordatorios:

Mañana
7. Llamar a Ana (⏰ 09:00)

Dom 29 de nov
8. Llamar a la abuela (⏰ a las 10:00 esta vez, luego cada domingo a las 19:00)

Mar 1 de dic
9. Pedido de harina al molino (cada martes a las 18:00, ⏰ 17:00)

Mié 2 de dic
10. Operación de ojo de tu madre (el jue 3 de dic a las 14:00, ⏰ el día antes a las 18:00 y el propio día a las 13:00)

Toca un número para marcarlo como hecho, moverlo o pararlo.
""",
    "fr": """\
Encore en cours :

En retard
1. Payer le ramoneur (c'était pour le mar. 24 nov.)

Aujourd'hui
2. Sortir les poubelles (rappel envoyé à 8h)

Demain
3. Un mot d'italien (⏰ tous les jours sauf le dimanche à 5h30)
4. Nourrir Biscuit (⏰ tous les jours à 8h jusqu'au 9 déc., sauf ce samedi)
5. Appeler Ana (⏰ 9h)

Dim. 29 nov.
6. Appeler mamie (⏰ à 10h cette fois, puis chaque dimanche à 19h)

… et 9 de plus.

À venir
Aujourd'hui : Owen regarde le four (à 14h30, ⏰ 13h45)
Demain : Service du matin au café (y être à 6h45) – à 7h30, ⏰ 6h
Jeu. 3 déc. : Opération de l'œil de ta maman à Annecy (à 14h, ⏰ la veille à 18h et le jour même à 13h)
Mar. 8 déc. : Nouveau four pour la boutique
Réunion de parents le 8 décembre (à 18h)
Lun. 14 déc. : Gâteau de mariage de Mme Keller, 3 étages, citron
La suite est dans /memory.

Touche un numéro pour cocher, remettre à plus tard ou retirer.
---
Encore en cours :

Lun. 30 nov.
7. Owen envoie le devis (10h)

Mar. 1er déc.
8. Trier les photos (mis de côté)
9. Commande de farine au moulin (chaque mardi à 18h, ⏰ 17h)

Mar. 8 déc.
10. Renouveler le passeport

Sans date
11. Trouver une photo pour le site
12. Rui : Apporter les chaises
13. Chercher une farine moins chère (je te l'ai promis)
14. Quel fournisseur pour les œufs ?

Histoire : The captain
15. Le navire est au large de Tortuga

Touche un numéro pour cocher, remettre à plus tard ou retirer.
---
Voici ce que je retiens :

Bon à savoir
1. Ta boulangerie s'appelle La Mie, à Lyon

Les gens
2. Ana est ta sœur et habite à Lisbonne
3. Pas de noix pour Mila

À garder en tête
4. Pas d'appels avant dix heures
5. Papa ne doit rien savoir de la fête

Décidé
6. La cuisine aura des carreaux gris

… et 10 de plus.
---
Voici ce que je retiens :

En cours et à venir
7. Owen regarde le four (aujourd'hui à 14h30, ⏰ 13h45)
8. Service du matin au café (y être à 6h45) – demain à 7h30, ⏰ 6h
9. Opération de l'œil de ta maman à Annecy (le jeu. 3 déc. à 14h, ⏰ la veille à 18h et le jour même à 13h)
10. Nouveau four pour la boutique (mar. 8 déc.)
11. Réunion de parents le 8 décembre (à 18h)
12. Gâteau de mariage de Mme Keller, 3 étages, citron (le lun. 14 déc.)

… et 4 de plus.
---
Voici ce que je retiens :

En cours et à venir
13. Rugby au parc (chaque mardi à 19h, en pause jusqu'au lun. 14 déc.)
14. Week-end à Lisbonne avec Ana (ven. 12 févr. – lun. 15 févr. 2027)

Histoire : The captain
15. Le navire est au large de Tortuga

C'est passé
16. Répétition de la chorale (c'était hier à 18h)

Ce qui est passé depuis un moment n'est plus affiché ici. /memory et un mot le retrouve.
---
Tes rappels :

Déjà rappelé
1. Sortir les poubelles (aujourd'hui à 8h)

Aujourd'hui
2. Owen regarde le four (à 14h30, ⏰ 13h45)

Demain
3. Un mot d'italien (⏰ tous les jours sauf le dimanche à 5h30)
4. Service du matin au café (y être à 6h45) – à 7h30, ⏰ 6h
5. Programme du jour (⏰ je l'envoie en semaine à 7h30)
6. Nourrir Biscuit (⏰ tous les jours à 8h jusqu'au 9 déc., sauf ce samedi)

… et 4 de plus.

Touche un numéro pour cocher, décaler ou arrêter.
---
Tes rappels :

Demain
7. Appeler Ana (⏰ 9h)

Dim. 29 nov.
8. Appeler mamie (⏰ à 10h cette fois, puis chaque dimanche à 19h)

Mar. 1er déc.
9. Commande de farine au moulin (chaque mardi à 18h, ⏰ 17h)

Mer. 2 déc.
10. Opération de l'œil de ta maman à Annecy (le jeu. 3 déc. à 14h, ⏰ la veille à 18h et le jour même à 13h)

Touche un numéro pour cocher, décaler ou arrêter.
""",
}


def ledger_in(language: str) -> Ledger:
    at = LANGUAGES.index(language)
    base = {"time_zone": ZONE, "weight": 0.5}
    adds = [
        Add(kind=kind, text=texts[at], note_id=f"n_{number}", fields=base | fields)
        for number, (kind, fields, texts) in enumerate(NOTES, 1)
    ]
    ledger, outcomes = apply_all(Ledger("c"), adds, Actor("person", at_ms("2026-11-23T10:00")))
    assert all(isinstance(each, Applied) for each in outcomes)
    return ledger


def pages_of(listing: Listing) -> list[str]:
    starts = range(0, max(1, len(listing.notes) - 3), PAGE)
    return [page(listing, start).text for start in starts]


def said_in(ledger: Ledger) -> list[str]:
    lists = (made(ledger, NOW_MS, ZONE) for made in (loop_list, memory_list, reminder_list))
    return [text for listing in lists for text in pages_of(listing)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lists_read_as_somebody_would_have_written_them(language):
    """Events, tasks, promises, series that are moved, left out or paused: on /loops, /memory and /reminders."""
    with replies.speaking(language):
        ledger = ledger_in(language)
        said = said_in(ledger)

    assert "\n---\n".join(said) == READ[language].removesuffix("\n")
