"""The end of the service manager of a notification socket: what comes in, one JSON line for each datagram, with the process that the kernel says sent it.
Ends with its standard input, so that a test that is killed leaves nothing behind."""
import json, select, socket, struct, sys

address = sys.argv[1]
inlet = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
inlet.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
inlet.bind('\0' + address[1:] if address.startswith('@') else address)
print('bound', flush=True)
while sys.stdin not in select.select([inlet, sys.stdin], [], [])[0]:
    data, ancillary, _, _ = inlet.recvmsg(8192, socket.CMSG_SPACE(struct.calcsize('3i')))
    pid = next((struct.unpack('3i', body)[0] for _, kind, body in ancillary if kind == socket.SCM_CREDENTIALS), 0)
    print(json.dumps({'pid': pid, 'lines': data.decode().split('\n')}), flush=True)
