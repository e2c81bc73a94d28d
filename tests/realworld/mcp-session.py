# A session with a server of the Model Context Protocol, which speaks JSON on its standard input and output: mcp-session.py SESSION.json COMMAND...
# SESSION.json is a list of [method, parameters]. In strings of parameters, {NAME} stands for what the last answer with a NAME had as that. What differs between two
# runs is replaced in what is printed.
import json
import re
import subprocess
import sys

session = json.load(open(sys.argv[1]))
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
known = {}


def fill(value):
    if isinstance(value, str):
        for name, text in known.items():
            value = value.replace("{" + name + "}", text)
    elif isinstance(value, dict):
        value = {key: fill(inner) for key, inner in value.items()}
    return value


def learn(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                known[key] = inner
            learn(inner)
    elif isinstance(value, list):
        for inner in value:
            learn(inner)


def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def shown(text):
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b", "ID", text)
    text = re.sub(r'"duration": \d+', '"duration": N', text)
    text = re.sub(r"\bw14:[0-9A-F]{8}\b", "PARAGRAPH", text)
    text = re.sub(r'"[A-Za-z0-9+/]{43}="', '"HASH"', text)
    text = re.sub(r"\b[0-9a-fA-F]{64}\b", "HASH", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)", "TIME", text)


for number, (method, parameters) in enumerate(session, 1):
    if method.startswith("notifications/"):
        send({"method": method, "params": parameters})
        continue
    send({"id": number, "method": method, "params": fill(parameters)})
    while True:
        line = server.stdout.readline()
        if not line:
            sys.exit(f"the server ended before it answered {method}")
        answer = json.loads(line)
        if answer.get("id") == number:
            break
    for item in answer.get("result", {}).get("content", []):
        # Some servers answer with JSON in a string of JSON.
        while isinstance(item.get("text"), str):
            try:
                item["text"] = json.loads(item["text"])
            except ValueError:
                break
        learn(item.get("text"))
    if method == "tools/list":
        answer["result"]["tools"].sort(key=lambda tool: tool["name"])
    print(method, shown(json.dumps(answer, indent=1, ensure_ascii=False)))
server.stdin.close()
print("exit code", server.wait(60))
