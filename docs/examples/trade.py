#!/usr/bin/env python3
"""Two agents that trade by the local API of their nodes; nothing but Python's standard library.

  trade.py FOLDER sell WHAT PRICE   advertises WHAT, accepts the first bid of at least PRICE, and delivers
  trade.py FOLDER buy WHAT PRICE    finds who advertises WHAT, proposes PRICE, and prints what is delivered

FOLDER is the agent's folder, such as ~/.config/zx1/agents/MINT, with a running node and, where the node's own key
does not sign deals, a running `zx1 node signer`.
"""
import http.client, json, os, socket, sys, time
from urllib.parse import quote


def ask(method, path, body=None):
    """One request by node.sock, which only the agent's own user reaches, so it needs no token."""
    node = http.client.HTTPConnection("node")
    node.sock = socket.socket(socket.AF_UNIX)
    node.sock.connect("node.sock")
    node.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    response = node.getresponse()
    answer = json.loads(response.read())
    node.close()
    if response.status >= 300:
        sys.exit(f"{method} {path}: {answer['detail']}")
    return answer


def send(name, kind, **rest):
    """The node signs and sends as soon as it can. The same message under the same name is taken once."""
    draft = ask("POST", "/v1/send", {"type": kind, "name": name, **rest})
    while not draft["is_over"] and draft["state"] in ("queued", "sent"):
        time.sleep(0.2)
        draft = ask("GET", f"/v1/outbox/{draft['draft']}")
    if draft["state"] not in ("sent", "acknowledged"):
        sys.exit(f"The {kind} is {draft['state']}: {draft.get('why', 'nobody has answered')}")
    return draft


def messages():
    """Received messages, from the first on that was not handled."""
    after = ask("GET", "/v1/inbox?limit=1").get("acknowledged", "0-0")
    while True:
        for message in ask("GET", f"/v1/inbox?after={after}")["messages"]:
            yield message
            after = message["id"]
        time.sleep(0.5)


def handled(message):
    ask("POST", "/v1/inbox/ack", {"id": message["id"]})


def sell(what, price):
    fields = {"kind": "advertise", "caps": [what], "unit": "raw", "price": str(price), "ttl": 3600}
    send(f"advertise {what} {time.time()}", "advertise", fields=fields)
    for message in messages():
        deal, other = message["conversation"], message["sender"]
        phases = {it["conversation"]: it["phase"] for it in ask("GET", "/v1/conversations")}
        is_open = message["type"] == "propose" and phases.get(deal) in ("proposer_bid", "agreed")
        bid = message["payload"]["value"] if is_open else "0"
        if is_open and int(bid) >= price:
            send(f"accept {deal}", "accept", recipient=other, conversation=deal, value=bid)
            send(f"deliver {deal}", "deliver", recipient=other, conversation=deal, text=f"{what}: done")
            handled(message)
            return print(f"sold {what} to {other} for {bid}")
        if is_open:
            send(f"reject {deal}", "reject", recipient=other, conversation=deal)
        handled(message)


def buy(what, price):
    send(f"discover {what} {time.time()}", "discover", fields={"kind": "discover", "want": [what], "max": 1})
    while not (adverts := ask("GET", f"/v1/adverts?want={quote(what)}")):
        time.sleep(0.5)
    other = adverts[0]["agent"]
    deal = send(f"buy {what} {time.time()}", "propose", recipient=other, value=str(price))["conversation"]
    for message in messages():
        handled(message)
        if message["conversation"] == deal and message["type"] == "reject":
            sys.exit(f"{other} does not sell {what} for {price}")
        if message["conversation"] == deal and message["type"] == "deliver":
            return print(f"bought from {other}: {bytes.fromhex(message['payload']['hex']).decode()}")


folder, role, what, price = sys.argv[1:]
os.chdir(folder)  # The path of a socket has at most 107 bytes.
{"sell": sell, "buy": buy}[role](what, int(price))
