"""What every call passes: is it allowed, are we stopping, and what does the caller get when it fails.

Servicers raise; this interceptor turns what they raise into a refusal, and logs what is a fault of ours.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from grpc import aio

from jird_daemon.errors import DataError, InternalError, JirdError, ShuttingDownError, StoreFullError
from jird_daemon.log import get_logger
from jird_daemon.rpc.authorize import authorize_public
from jird_daemon.rpc.status import refusal_of
from jird_settings import Settings

_log = get_logger("rpc")

Context = aio.ServicerContext[Any, Any]


class Gate(aio.ServerInterceptor):
    """The interceptor of one socket's server.

    Args:
        is_public: For search.sock.
        settings: The settings in effect.
        stopping: Set when the daemon stops; calls that begin afterwards are refused.
    """

    def __init__(self, *, is_public: bool, settings: Callable[[], Settings], stopping: asyncio.Event) -> None:
        self._is_public = is_public
        self._settings = settings
        self._stopping = stopping

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], "Awaitable[grpc.RpcMethodHandler[Any, Any] | None]"],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "grpc.RpcMethodHandler[Any, Any] | None":
        """Wrap the method's handler; None for a method that does not exist."""
        handler: Any = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:
            return handler
        if handler.unary_unary is not None:
            wrapped = self._one_answer(method, handler.unary_unary)
            return grpc.unary_unary_rpc_method_handler(
                wrapped, handler.request_deserializer, handler.response_serializer
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                self._many_answers(method, handler.unary_stream),
                handler.request_deserializer,
                handler.response_serializer,
            )
        return grpc.stream_stream_rpc_method_handler(  # reflection is the only one of its kind
            self._many_answers(method, handler.stream_stream),
            handler.request_deserializer,
            handler.response_serializer,
        )

    def _one_answer(self, method: str, call: Callable[[Any, Context], Awaitable[Any]]) -> Any:
        async def answer(request: Any, context: Context) -> Any:
            try:
                self._check(method, context)
                return await call(request, context)
            except Exception as error:
                await self._refuse(method, context, error)

        return answer

    def _many_answers(self, method: str, call: Callable[[Any, Context], AsyncIterator[Any]]) -> Any:
        async def answers(request: Any, context: Context) -> AsyncIterator[Any]:
            try:
                self._check(method, context)
                async for message in call(request, context):
                    yield message
            except Exception as error:
                await self._refuse(method, context, error)

        return answers

    def _check(self, method: str, context: Context) -> None:
        if self._stopping.is_set():
            raise ShuttingDownError("jird is stopping")
        if self._is_public:
            authorize_public(method, list(context.invocation_metadata() or ()), self._settings())

    async def _refuse(self, method: str, context: Context, error: Exception) -> None:
        if isinstance(error, aio.AbortError):
            raise error  # a library's servicer chose its own code
        _log_fault(method, error)
        refusal = refusal_of(error, is_public=self._is_public)
        await context.abort(refusal.code, refusal.message, refusal.trailing)


def _log_fault(method: str, error: Exception) -> None:
    """Log what the operator must know of; a caller's mistake is none of it."""
    if isinstance(error, DataError | StoreFullError):
        _log.error("call.failed", method=method, message=error, reason=error.reason)
    elif isinstance(error, InternalError) or not isinstance(error, JirdError | TimeoutError):
        _log.error("call.failed", method=method, message=f"{type(error).__name__}: {error}", exc_info=True)
